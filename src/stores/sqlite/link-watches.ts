import type { Change, Moment, StoreWatcher } from "../../ports/store.js"
import { type Report, type Request, unpackChange } from "./messages.js"

/**
 * The watches of a store on the event loop's side, by their ids. Each keeps how far it has been told, so that
 * a new worker continues from there.
 */
export class LinkWatches {
  readonly #watches = new Map<number, Watch>()

  get size(): number {
    return this.#watches.size
  }

  add(id: number, watch: Watch): void {
    this.#watches.set(id, watch)
  }

  /** False if the watch has ended. */
  delete(id: number): boolean {
    return this.#watches.delete(id)
  }

  clear(): void {
    this.#watches.clear()
  }

  /** What a new worker is asked. */
  *requests(): Generator<Request> {
    for (const [id, { prefix, from }] of this.#watches) yield { kind: "watch", id, prefix, from }
  }

  /** Tells a watcher what its worker reported. `bytes` are those that the report's slices are of. */
  tell(report: Report & { readonly kind: "changed" | "gap" }, bytes: Uint8Array): void {
    const { id } = report
    const watch = this.#watches.get(id)
    if (watch === undefined) return
    if (report.kind === "gap") {
      this.#watches.delete(id)
      undisturbed(() => watch.watcher.gap())
      return
    }
    this.#watches.set(id, { ...watch, from: { ...watch.from, revision: report.through } })
    for (const commit of report.commits) {
      const changes = commit.map((change): Change => unpackChange(change, bytes))
      // The watcher may have cancelled in the call before.
      if (this.#watches.has(id)) undisturbed(() => watch.watcher.changed(changes))
    }
  }
}

interface Watch {
  readonly prefix: string
  readonly from: Moment
  readonly watcher: StoreWatcher
}

/** Keeps what a watcher throws from everybody else: no other answer is lost with it. */
function undisturbed(call: () => void): void {
  try {
    call()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

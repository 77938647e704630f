import type { Change, Moment, StoreWatcher } from "../../ports/store.js"
import { type Report, type Request, unpackChange } from "./messages.js"

/**
 * The watches of a store on the side of the event loop, by their ids. Each records its position, so that a
 * new worker continues from there.
 */
export class LinkWatches {
  readonly #watches = new Map<number, Watch>()

  get size(): number {
    return this.#watches.size
  }

  add(id: number, watch: Watch): void {
    this.#watches.set(id, watch)
  }

  /** Returns false if the watch has ended. */
  delete(id: number): boolean {
    return this.#watches.delete(id)
  }

  clear(): void {
    this.#watches.clear()
  }

  /** Returns the requests for a new worker. */
  *requests(): Generator<Request> {
    for (const [id, { prefix, from }] of this.#watches) yield { kind: "watch", id, prefix, from }
  }

  /**
   * Passes a report of the worker to its watcher. `bytes` are those that the slices of the report refer to.
   */
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
      // The watcher may have cancelled in the previous call.
      if (this.#watches.has(id)) undisturbed(() => watch.watcher.changed(changes))
    }
  }
}

interface Watch {
  readonly prefix: string
  readonly from: Moment
  readonly watcher: StoreWatcher
}

/** Isolates errors of a watcher, so that no other answer is lost. */
function undisturbed(call: () => void): void {
  try {
    call()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

import type { Revision } from "../../src/ports/store.js"
import type { SimStoreEvent } from "../../src/sim/index.js"

/** Every commit that changed something, by its revision. */
export class CommitLog {
  readonly #epochs = new Map<string, LoggedCommit[]>()
  readonly #present = new Set<string>()

  take(event: SimStoreEvent, present: readonly string[]): void {
    if (event.kind === "judged" && event.result.kind === "committed") {
      const { epoch, writes } = event.commit
      const changed = writes.filter(({ kind, key }) => kind === "put" || this.#present.has(key))
      if (changed.length > 0) {
        const keys = changed.map(({ key }) => key.replace(/^[^/]*\//, "")).join(" ")
        const log = this.#epochs.get(epoch) ?? []
        this.#epochs.set(epoch, log)
        const { revision } = event.result
        const at = log.findLastIndex((commit) => commit.revision < revision) + 1
        log.splice(at, 0, { revision, keys })
      }
    }
    this.#present.clear()
    for (const key of present) this.#present.add(key)
  }

  /** The next one that a watch has to report, of those that have taken effect. */
  after(epoch: string, revision: Revision): LoggedCommit | undefined {
    return this.#epochs.get(epoch)?.find((commit) => commit.revision > revision)
  }
}

interface LoggedCommit {
  readonly revision: Revision
  /** Without their namespace. */
  readonly keys: string
}

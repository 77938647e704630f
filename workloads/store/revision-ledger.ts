import type { Revision, Sight } from "../../src/ports/store.js"
import type { Life, SimStoreEvent, Stage } from "../../src/sim/index.js"

/**
 * The revisions that a store gives, whatever the order of its commits: along each key they grow, a commit has
 * one above those of all commits that were acknowledged before it was sent, and an absent key has been absent
 * since its last revision, and at none that it gets later. Keys have no namespace.
 */
export class RevisionLedger {
  readonly #stage: Stage
  /** Of the epoch: nothing is compared with what an earlier one gave. */
  #epoch = ""
  #acknowledged: Revision = 0
  readonly #latest = new Map<string, Revision>()
  readonly #absences = new Map<string, Revision>()
  #highest: Revision = 0

  constructor(stage: Stage) {
    this.#stage = stage
  }

  take(event: SimStoreEvent): void {
    if (event.kind === "cut") return this.#begin(event.epoch)
    const { commit, result } = event
    if (result.kind !== "committed") return
    this.#stage.sometimes(
      "a commit takes effect before one of a lower revision",
      result.revision < this.#highest,
    )
    this.#highest = Math.max(this.#highest, result.revision)
    for (const { kind, key: full } of commit.writes) {
      if (kind !== "put") continue
      const key = full.replace(/^[^/]*\//, "")
      const before = Math.max(this.#latest.get(key) ?? 0, this.#absences.get(key) ?? 0)
      this.#stage.always(
        "revisions grow along each key",
        result.revision > before,
        () => `${key} is written at ${result.revision}, and was there or absent at ${before}`,
      )
      this.#latest.set(key, result.revision)
    }
  }

  /** A commit that writes is about to be sent. Returns what to call with its revision. */
  sending(life: Life, epoch: string): (revision: Revision) => void {
    const before = this.#acknowledged
    return (revision) => {
      if (epoch !== this.#epoch && this.#epoch !== "") return
      life.always(
        "a commit is above all that were acknowledged before it",
        revision > before,
        () => `${life.name} sent a commit after ${before} was acknowledged, and it is at ${revision}`,
      )
      this.#acknowledged = Math.max(this.#acknowledged, revision)
    }
  }

  /** A key is about to be read. Returns what to call with the answer. */
  reading(life: Life, key: string): (sight: Sight) => void {
    const before = this.#latest.get(key) ?? 0
    const epoch = this.#epoch
    return (sight) => {
      if (sight.entry !== undefined || epoch !== this.#epoch || (epoch !== "" && epoch !== sight.epoch))
        return
      life.always(
        "an absence is not below what the key has had",
        sight.absentAt >= before,
        () => `${key} is absent at ${sight.absentAt}, and was written at ${before}`,
      )
      this.#absences.set(key, Math.max(this.#absences.get(key) ?? 0, sight.absentAt))
    }
  }

  #begin(epoch: string): void {
    this.#epoch = epoch
    this.#acknowledged = 0
    this.#latest.clear()
    this.#absences.clear()
  }
}

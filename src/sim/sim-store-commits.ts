import type { Commit, CommitResult, Moment, Revision } from "../ports/store.js"
import type { StoreState } from "../stores/store-state.js"
import { SimStoreLocks } from "./sim-store-locks.js"
import { Tombstones } from "./tombstones.js"
import type { World } from "./world.js"

/**
 * In which order a store makes commits.
 *
 * - `ordered`: one after another, and each has the next revision, as in SQLite and etcd. A listing has the
 *   moment of the last commit, and so has the sight of an absent key.
 * - `concurrent`: as in PostgreSQL, and as weak as the port allows. A commit gets its revision when it
 *   begins, and becomes visible later; commits whose keys conflict wait for each other, and others become
 *   visible in any order. Revisions have gaps. The moment of a listing is below every commit in flight, and
 *   an absent key has been absent since its tombstone, or since a floor that rises as tombstones are purged.
 */
export type CommitOrder = "ordered" | "concurrent"

/** Makes the commits of one store, and knows up to which revision they are settled. */
export class SimStoreCommits {
  readonly #world: World
  readonly #state: StoreState
  readonly #order: CommitOrder
  readonly #locks = new SimStoreLocks()
  readonly #tombstones = new Tombstones()
  /** Commits that are not visible yet, and holds. */
  readonly #inFlight = new Set<InFlight>()
  readonly #changed: () => void

  /** `changed` is called when a commit has become visible, or more may be settled. */
  constructor(world: World, state: StoreState, order: CommitOrder, changed: () => void) {
    this.#world = world
    this.#state = state
    this.#order = order
    this.#changed = changed
  }

  /** All commits up to this revision are visible, and can be reported to watches. */
  get settled(): Moment {
    const { epoch, revision } = this.#state.moment
    let settled = revision
    for (const one of this.#inFlight) settled = Math.min(settled, one.revision - 1)
    return { epoch, revision: settled }
  }

  /** The moment of a listing. */
  get listed(): Moment {
    return this.#order === "ordered" ? this.#state.moment : this.settled
  }

  /** Since when an absent key is known to be absent. */
  absentAt(key: string): Revision {
    return this.#order === "ordered" ? this.#state.moment.revision : this.#tombstones.at(key)
  }

  /** Makes the commit, and calls `judged` at the moment in which it becomes visible, or is refused. */
  make(commit: Commit, judged: (result: CommitResult) => void): void {
    if (this.#order === "ordered") {
      judged(this.#state.commit(commit))
      this.#changed()
      return
    }
    this.#locks.acquire(commit, (release) => {
      const refusal = this.#state.refusal(commit)
      const revision = this.#state.nextRevision(1 + this.#world.random.below(3))
      if (refusal !== undefined) {
        judged(refusal)
        release()
        return
      }
      const inFlight: InFlight = { revision, aborted: undefined }
      inFlight.aborted = () => judged({ kind: "epoch-changed", epoch: this.#state.moment.epoch })
      this.#inFlight.add(inFlight)
      this.#world.schedule(
        this.#world.now + this.#flightMicros(),
        undefined,
        `store commits ${revision}`,
        () => {
          if (!this.#inFlight.delete(inFlight)) return
          judged(this.#apply(commit, revision))
          release()
          this.#changed()
        },
      )
    })
  }

  /**
   * Begins a transaction of somebody else: until the returned function is called, watches hear of nothing
   * that is later. Reads are not affected.
   */
  hold(): () => void {
    const revision = this.#order === "ordered" ? this.#state.moment.revision + 1 : this.#state.nextRevision()
    const hold: InFlight = { revision, aborted: undefined }
    this.#inFlight.add(hold)
    return () => {
      if (this.#inFlight.delete(hold)) this.#changed()
    }
  }

  /** The history was cut: what is in flight never becomes visible, and what waits finds another epoch. */
  abort(): void {
    const inFlight = [...this.#inFlight]
    this.#inFlight.clear()
    this.#tombstones.forget(this.#state.moment.revision)
    for (const { aborted } of inFlight) aborted?.()
    this.#locks.releaseAll()
  }

  #apply(commit: Commit, revision: Revision): CommitResult {
    const { settled } = this
    this.#tombstones.note(commit.writes, revision)
    if (this.#world.random.chance(0.1)) this.#tombstones.purge(settled.revision)
    return this.#state.apply(commit, revision, settled.revision)
  }

  /** Mostly no longer than a message takes, at times a few times as long, and with a fault up to seconds. */
  #flightMicros(): number {
    const { random } = this.#world
    const isSlow = this.#world.draw("store-delay", 0.04)
    const mostMs = isSlow ? 2_500 : random.chance(0.1) ? 30 : 2
    return Math.ceil(random.between(0.01, mostMs) * 1000)
  }
}

interface InFlight {
  readonly revision: Revision
  /** Called if the commit will never be made. */
  aborted: (() => void) | undefined
}

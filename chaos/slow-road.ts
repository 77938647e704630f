import type { ClusterStore, Commit, CommitResult, StoreProvider } from "../src/index.js"

/**
 * The road from a node to its store, on which saves can be held up.
 *
 * A save has passed its activation's door when it gets here. If the process is frozen now, the save arrives
 * when the actor lives elsewhere, and the store's conditions are all that is left to refuse it. Without this
 * the moment would be a matter of microseconds.
 *
 * An unfenced road loses the conditions of every save. It is the mistake that the rig has to find, and it is
 * here, and not in the runtime, so that no release can be switched to it. A forgetful road is another one: it
 * loses what an actor stores beside its state, that is, the names of operations, messages and reminders.
 */
export class SlowRoad {
  readonly provider: StoreProvider
  readonly #planted: PlantedMistakes
  readonly #arrived: (report: Arrival) => void
  #holdMs = 0

  constructor(store: StoreProvider, planted: PlantedMistakes, arrived: (report: Arrival) => void) {
    this.#planted = planted
    this.#arrived = arrived
    this.provider = {
      open: async (namespace, ports) => this.#along(await store.open(namespace, ports)),
      // Renewals of the lease are no saves: the thread that sends them takes the road of its own.
      inThread: store.inThread,
    }
  }

  /** From now on each save takes this much longer. */
  hold(ms: number): void {
    this.#holdMs = ms
  }

  #along(store: ClusterStore): ClusterStore {
    return {
      identity: store.identity,
      get: (key) => store.get(key),
      list: (prefix, options) => store.list(prefix, options),
      watch: (prefix, from, watcher) => store.watch(prefix, from, watcher),
      close: () => store.close(),
      commit: (commit) => {
        if (!commit.writes.some(({ key }) => key.startsWith("state/"))) return store.commit(commit)
        const sent = this.#mistaken(commit)
        return this.#holdMs === 0 ? store.commit(sent) : this.#late(store, sent)
      },
    }
  }

  #mistaken(commit: Commit): Commit {
    const { unfenced, forgetful } = this.#planted
    return {
      ...commit,
      conditions: unfenced ? [] : commit.conditions,
      writes: forgetful ? commit.writes.filter(({ key }) => !BESIDE.test(key)) : commit.writes,
    }
  }

  async #late(store: ClusterStore, commit: Commit): Promise<CommitResult> {
    this.#arrived("held")
    await new Promise((resolve) => setTimeout(resolve, this.#holdMs))
    const result = await store.commit(commit)
    this.#arrived(result.kind === "committed" ? "committed" : "refused")
    return result
  }
}

/** Mistakes that the rig has to find. */
export interface PlantedMistakes {
  /** Whether saves lose their conditions. */
  readonly unfenced: boolean
  /** Whether saves lose what is stored beside the state. */
  readonly forgetful: boolean
}

/** Rows of named operations, messages and reminders. */
const BESIDE = /^kin\/[^/]+\/[^/]+\/[oxr]\//

/** The outcome of a save that was delayed. */
export type Arrival = "held" | "committed" | "refused"

import type { ClusterStore, Commit, CommitResult, StoreProvider } from "../src/index.js"

/**
 * The road from a node to its store, on which saves can be held up.
 *
 * A save has passed its activation's door when it gets here. If the process is frozen now, the save arrives
 * when the actor lives elsewhere, and the store's conditions are all that is left to refuse it. Without this
 * the moment would be a matter of microseconds.
 *
 * An unfenced road loses the conditions of every save. It is the mistake that the rig has to find, and it is
 * here, and not in the runtime, so that no release can be switched to it.
 */
export class SlowRoad {
  readonly provider: StoreProvider
  readonly #isUnfenced: boolean
  readonly #arrived: (report: Arrival) => void
  #holdMs = 0

  constructor(store: StoreProvider, isUnfenced: boolean, arrived: (report: Arrival) => void) {
    this.#isUnfenced = isUnfenced
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
        const sent: Commit = this.#isUnfenced ? { ...commit, conditions: [] } : commit
        return this.#holdMs === 0 ? store.commit(sent) : this.#late(store, sent)
      },
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

/** The outcome of a save that was delayed. */
export type Arrival = "held" | "committed" | "refused"

import type {
  ClusterStore,
  Commit,
  CommitResult,
  ListOptions,
  Moment,
  StoreProvider,
  StoreWatcher,
  Write,
} from "../../src/ports/store.js"

/**
 * A store that reports the writes of each commit that was made, and the prefix of each listing. So a row knows
 * what is stored without asking an actor, which would take time that is measured.
 */
export function observedStore(provider: StoreProvider, observer: StoreObserver): StoreProvider {
  const { open, inThread } = provider
  return {
    open: async (namespace, ports) => new ObservedStore(await open(namespace, ports), observer),
    inThread,
  }
}

export interface StoreObserver {
  committed?(writes: readonly Write[]): void
  listed?(prefix: string): void
}

class ObservedStore implements ClusterStore {
  readonly identity: string
  readonly #store: ClusterStore
  readonly #observer: StoreObserver

  constructor(store: ClusterStore, observer: StoreObserver) {
    this.identity = store.identity
    this.#store = store
    this.#observer = observer
  }

  async commit(commit: Commit): Promise<CommitResult> {
    const result = await this.#store.commit(commit)
    if (result.kind === "committed") this.#observer.committed?.(commit.writes)
    return result
  }

  async list(prefix: string, options?: ListOptions) {
    const listing = await this.#store.list(prefix, options)
    this.#observer.listed?.(prefix)
    return listing
  }

  get(key: string) {
    return this.#store.get(key)
  }

  watch(prefix: string, from: Moment, watcher: StoreWatcher) {
    return this.#store.watch(prefix, from, watcher)
  }

  close() {
    return this.#store.close()
  }
}

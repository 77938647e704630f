import { StoreUnavailableError } from "../errors/store-errors.js"
import type {
  ClusterStore,
  Commit,
  CommitResult,
  Listing,
  ListOptions,
  Moment,
  Sight,
  StoreProvider,
  StoreWatch,
  StoreWatcher,
  Write,
} from "../ports/store.js"
import { NamespacedStore } from "./namespaced-store.js"
import { StoreState } from "./store-state.js"

/**
 * Creates a store in the memory of this process, for tests and for a cluster of one. Systems of this process
 * that are given the same store share it; other processes cannot. Its requests never fail, and its epoch
 * never changes.
 */
export function memoryStore(): StoreProvider {
  let state: StoreState | undefined
  const views = new Set<MemoryView>()
  return {
    open: async (namespace, { random }) => {
      state ??= new StoreState(`memory-${hex(random.bytes(16))}`, hex(random.bytes(8)))
      const view = new MemoryView(state, views)
      views.add(view)
      return new NamespacedStore(view, namespace)
    },
  }
}

class MemoryView implements ClusterStore {
  readonly identity: string
  readonly #state: StoreState
  /** All handles on the same state: a commit through one notifies the watchers of all. */
  readonly #views: Set<MemoryView>
  readonly #watches = new Set<MemoryWatch>()
  #isClosed = false

  constructor(state: StoreState, views: Set<MemoryView>) {
    this.identity = state.identity
    this.#state = state
    this.#views = views
  }

  async get(key: string): Promise<Sight> {
    this.#checkOpen()
    return this.#state.get(key)
  }

  async list(prefix: string, options: ListOptions): Promise<Listing> {
    this.#checkOpen()
    return this.#state.list(prefix, options)
  }

  async commit(commit: Commit): Promise<CommitResult> {
    this.#checkOpen()
    const result = this.#state.commit(commit)
    if (result.kind === "committed") for (const view of this.#views) view.#tell(commit.writes)
    return result
  }

  watch(prefix: string, from: Moment, watcher: StoreWatcher): StoreWatch {
    this.#checkOpen()
    const watch = new MemoryWatch(this.#state, prefix, from, watcher)
    this.#watches.add(watch)
    watch.wake()
    return {
      cancel: () => {
        watch.cancel()
        this.#watches.delete(watch)
      },
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#views.delete(this)
    for (const watch of this.#watches) watch.cancel()
    this.#watches.clear()
  }

  #tell(writes: readonly Write[]): void {
    for (const watch of this.#watches) watch.written(writes)
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new StoreUnavailableError("the store has been closed", "not-committed")
  }
}

/** Notifies its watcher after the call that changed something has returned, never from inside it. */
class MemoryWatch {
  readonly #state: StoreState
  readonly #prefix: string
  readonly #watcher: StoreWatcher
  #from: Moment
  #isWaking = false
  #isOver = false

  constructor(state: StoreState, prefix: string, from: Moment, watcher: StoreWatcher) {
    this.#state = state
    this.#prefix = prefix
    this.#from = from
    this.#watcher = watcher
  }

  /** Called after each commit. A watch that is up to date and not concerned stays so without being woken. */
  written(writes: readonly Write[]): void {
    if (this.#isWaking || this.#isOver) return
    if (writes.some(({ key }) => key.startsWith(this.#prefix))) this.wake()
    else this.#from = this.#state.moment
  }

  wake(): void {
    if (this.#isWaking || this.#isOver) return
    this.#isWaking = true
    SETTLED.then(this.#tell)
  }

  cancel(): void {
    this.#isOver = true
  }

  readonly #tell = (): void => {
    this.#isWaking = false
    if (this.#isOver) return
    const commits = this.#state.changesAfter(this.#prefix, this.#from)
    if (commits === undefined) {
      this.#isOver = true
      this.#watcher.gap()
      return
    }
    this.#from = this.#state.moment
    for (const changes of commits) {
      // The watcher may have cancelled in the previous call.
      if (!this.#isOver) this.#watcher.changed(changes)
    }
  }
}

const SETTLED = Promise.resolve()

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex")
}

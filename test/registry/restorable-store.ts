import type {
  ClusterStore,
  Commit,
  CommitResult,
  ListOptions,
  Moment,
  StoreWatch,
  StoreWatcher,
} from "../../src/ports/store.js"

/**
 * A store with one handle whose epoch a test can change, as if a backup had been restored, and whose watches it can end or
 * make late.
 */
export class RestorableStore implements ClusterStore {
  readonly #store: ClusterStore
  readonly #watches = new Map<object, () => void>()
  /** While it is so, watches are told nothing, and never hear of it later. */
  isDeaf = false
  /** The keys that were read so far, one by one. */
  readonly reads: string[] = []
  /** What watches hear when they catch up; undefined while they are not late. */
  #late: (() => void)[] | undefined
  #epochs = 1

  constructor(store: ClusterStore) {
    this.#store = store
  }

  get identity(): string {
    return this.#store.identity
  }

  get epoch(): string {
    return `epoch-${this.#epochs}`
  }

  /** Watches hear nothing from now on until they catch up. */
  makeLate(): void {
    this.#late ??= []
  }

  /** Watches hear all that they missed since they were made late. */
  catchUp(): void {
    const late = this.#late ?? []
    this.#late = undefined
    for (const hear of late) hear()
  }

  /** All that was built on the history holds no more. */
  restore(): void {
    this.restoreSilently()
    this.miss()
  }

  /** The same, and no watch hears of it yet. */
  restoreSilently(): void {
    this.#epochs += 1
  }

  /** Every watch has missed something. */
  miss(): void {
    const watches = [...this.#watches.values()]
    this.#watches.clear()
    for (const gap of watches) gap()
  }

  async get(key: string) {
    this.reads.push(key)
    const sight = await this.#store.get(key)
    return { ...sight, epoch: this.epoch }
  }

  async list(prefix: string, options?: ListOptions) {
    const listing = await this.#store.list(prefix, options)
    return { ...listing, epoch: this.epoch }
  }

  async commit(commit: Commit): Promise<CommitResult> {
    if (commit.epoch !== this.epoch) return { kind: "epoch-changed", epoch: this.epoch }
    const { epoch } = await this.#store.get("any")
    const result = await this.#store.commit({ ...commit, epoch })
    return result.kind === "refused" ? { ...result, epoch: this.epoch } : result
  }

  watch(prefix: string, from: Moment, watcher: StoreWatcher): StoreWatch {
    const own = {}
    let watch: StoreWatch | undefined
    let isOver = false
    const end = () => {
      isOver = true
      this.#watches.delete(own)
      watch?.cancel()
    }
    const hearing: StoreWatcher = {
      changed: (changes) => {
        if (this.isDeaf) return
        if (this.#late === undefined) watcher.changed(changes)
        else this.#late.push(() => isOver || watcher.changed(changes))
      },
      gap: () => watcher.gap(),
    }
    this.#watches.set(own, () => {
      end()
      Promise.resolve().then(() => watcher.gap())
    })
    void this.#store.get("any").then(({ epoch }) => {
      if (!isOver) watch = this.#store.watch(prefix, { ...from, epoch }, hearing)
    })
    return { cancel: end }
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

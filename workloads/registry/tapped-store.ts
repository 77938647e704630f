import { StoreUnavailableError } from "../../src/index.js"
import type {
  Change,
  ClusterStore,
  Commit,
  CommitResult,
  Entry,
  Listing,
  Moment,
  Sight,
  StoreWatch,
  StoreWatcher,
} from "../../src/ports/store.js"
import { type Author, authorOf, STATE } from "./kept-state.js"
import type { StoreManners } from "./store-manners.js"

/** A store as one node sees it: over a client with manners of its own, and with somebody who looks at what passes. */
export class TappedStore implements ClusterStore {
  readonly identity: string
  readonly #store: ClusterStore
  readonly #tap: StoreTap
  readonly #manners: StoreManners
  /** Saves that the client has not sent yet, by the ids of their writes. */
  readonly #stuck = new Map<string, Commit>()
  /** That of the last answer. */
  epoch = ""

  constructor(store: ClusterStore, tap: StoreTap, manners: StoreManners) {
    this.identity = store.identity
    this.#store = store
    this.#tap = tap
    this.#manners = manners
  }

  async get(key: string): Promise<Sight> {
    const sight = await this.#store.get(key)
    this.epoch = sight.epoch
    this.#tap.looked(key, sight.entry)
    return sight
  }

  async list(prefix: string): Promise<Listing> {
    const listing = await this.#store.list(prefix)
    this.#tap.looked(prefix)
    return listing
  }

  async commit(commit: Commit): Promise<CommitResult> {
    const [write] = commit.writes
    if (write?.kind !== "put" || !write.key.startsWith(STATE)) return this.#commit(commit)
    const author = authorOf(write.value)
    this.#tap.saving(write.key.slice(STATE.length), author)
    try {
      const result = await this.#save(commit, author)
      this.#tap.saved(author, result.kind)
      return result
    } catch (error) {
      if (error instanceof StoreUnavailableError) this.#tap.saved(author, error.commitment)
      throw error
    }
  }

  watch(prefix: string, from: Moment, watcher: StoreWatcher): StoreWatch {
    return this.#store.watch(prefix, from, {
      changed: (changes) => {
        watcher.changed(changes)
        this.#tap.changed(prefix, changes)
      },
      gap: () => {
        watcher.gap()
        this.#tap.gap(prefix)
      },
    })
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** One that is stuck is given up on, and leaves right before its like, when that is sent. */
  async #save(commit: Commit, { writeId }: Author): Promise<CommitResult> {
    const first = this.#stuck.get(writeId)
    if (first !== undefined) {
      this.#stuck.delete(writeId)
      this.#store.commit(first).catch(() => {})
      return this.#commit(commit)
    }
    const sticks = this.#manners.sticks()
    if (sticks === undefined) return this.#commit(commit)
    this.#stuck.set(writeId, commit)
    await sticks
    throw new StoreUnavailableError("the store did not answer in time", "unknown")
  }

  async #commit(commit: Commit): Promise<CommitResult> {
    const result = await this.#store.commit(commit)
    await this.#manners.hears()
    return result
  }
}

/** Told in the moment in which it happens. */
export interface StoreTap {
  /** A state is about to be sent. */
  saving(id: string, author: Author): void
  saved(author: Author, result: CommitResult["kind"] | StoreUnavailableError["commitment"]): void
  /** The node has just been told of these. */
  changed(prefix: string, changes: readonly Change[]): void
  gap(prefix: string): void
  /** It is about to be told what there is. */
  looked(key: string, entry?: Entry): void
}

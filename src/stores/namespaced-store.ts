import assert from "node:assert/strict"
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
} from "../ports/store.js"

/**
 * One namespace of a store. It adds the namespace to each key and removes it again, and checks keys and
 * commits against the rules of the port, so that stores need not do so.
 */
export class NamespacedStore implements ClusterStore {
  readonly #store: ClusterStore
  readonly #prefix: string

  constructor(store: ClusterStore, namespace: string) {
    // Without a slash, so that no namespace is a prefix of another one's keys.
    assert(/^[\w.-]+$/.test(namespace), "a namespace must consist of letters, digits, - _ and .")
    this.#store = store
    this.#prefix = `${namespace}/`
  }

  get identity(): string {
    return this.#store.identity
  }

  async get(key: string): Promise<Sight> {
    const sight = await this.#store.get(this.#full(key))
    return { ...sight, entry: this.#own(sight.entry) }
  }

  async list(prefix: string): Promise<Listing> {
    const listing = await this.#store.list(this.#full(prefix, 0))
    return { ...listing, entries: listing.entries.map((entry) => this.#own(entry) as Entry) }
  }

  async commit({ epoch, conditions, writes }: Commit): Promise<CommitResult> {
    assert(
      conditions.length + writes.length <= MAX_COMMIT_PARTS,
      `a commit must have at most ${MAX_COMMIT_PARTS} conditions and writes`,
    )
    assert(
      new Set(writes.map(({ key }) => key)).size === writes.length,
      "a commit must not write a key twice",
    )
    const result = await this.#store.commit({
      epoch,
      conditions: conditions.map((condition) => ({ ...condition, key: this.#full(condition.key) })),
      writes: writes.map((write) => ({ ...write, key: this.#full(write.key) })),
    })
    if (result.kind !== "refused") return result
    return {
      ...result,
      found: result.found.map(({ key, entry }) => ({ key: this.#bare(key), entry: this.#own(entry) })),
    }
  }

  watch(prefix: string, from: Moment, watcher: StoreWatcher): StoreWatch {
    return this.#store.watch(this.#full(prefix, 0), from, {
      changed: (changes) =>
        watcher.changed(
          changes.map(({ key, revision, value }): Change => ({ key: this.#bare(key), revision, value })),
        ),
      gap: () => watcher.gap(),
    })
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  #full(key: string, least = 1): string {
    assert(
      key.length >= least && key.length <= MAX_KEY_BYTES,
      `a key must have ${least} to ${MAX_KEY_BYTES} characters (got ${key.length})`,
    )
    assert(/^[\x21-\x7e]*$/.test(key), "a key must consist of printable ASCII characters without spaces")
    return this.#prefix + key
  }

  #bare(key: string): string {
    return key.slice(this.#prefix.length)
  }

  #own(entry: Entry | undefined): Entry | undefined {
    return entry === undefined ? undefined : { ...entry, key: this.#bare(entry.key) }
  }
}

export const MAX_KEY_BYTES = 2_400
export const MAX_COMMIT_PARTS = 256

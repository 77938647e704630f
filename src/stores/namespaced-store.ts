import assert from "node:assert/strict"
import type {
  Change,
  ClusterStore,
  Commit,
  CommitResult,
  Condition,
  Entry,
  Listing,
  ListOptions,
  Moment,
  Sight,
  StoreWatch,
  StoreWatcher,
  Write,
} from "../ports/store.js"
import { isWatched } from "./watched-keys.js"

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
    return sight.entry === undefined ? sight : { ...sight, entry: this.#own(sight.entry) }
  }

  async list(prefix: string, options: ListOptions = {}): Promise<Listing> {
    const { after, limit = MAX_PAGE, keysOnly = false } = options
    assert(
      Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE,
      `limit must be an integer from 1 to ${MAX_PAGE} (got ${limit})`,
    )
    const listing = await this.#store.list(this.#full(prefix, 0), {
      after: after === undefined ? undefined : this.#full(after),
      limit,
      keysOnly,
    })
    return { ...listing, entries: listing.entries.map((entry) => this.#own(entry)) }
  }

  commit(commit: Commit): Promise<CommitResult> {
    let full: Commit
    try {
      full = this.#fullCommit(commit)
    } catch (error) {
      return Promise.reject(error)
    }
    return this.#store.commit(full).then(this.#bareResult)
  }

  watch(prefix: string, from: Moment, watcher: StoreWatcher): StoreWatch {
    const full = this.#full(prefix, 0)
    assert(isWatched(full), `keys that begin with "${prefix}" cannot be watched; list them instead`)
    return this.#store.watch(full, from, {
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

  #fullCommit({ epoch, conditions, writes, reads = NO_KEYS }: Commit): Commit {
    checkLimits(conditions, writes, reads)
    const full = conditions.map(this.#fullCondition)
    const put: Write[] = new Array(writes.length)
    for (let index = 0; index < writes.length; index += 1) {
      put[index] = this.#fullWrite(writes[index] as Write, conditions, full)
    }
    return {
      epoch,
      conditions: full,
      writes: put,
      reads: reads.length === 0 ? undefined : reads.map((key) => this.#full(key)),
    }
  }

  readonly #fullCondition = (condition: Condition): Condition => {
    const key = this.#full(condition.key)
    return condition.kind === "at"
      ? { kind: "at", key, revision: condition.revision }
      : { kind: "absent", key }
  }

  /** Most writes are conditioned on their key, whose full form exists then. */
  #fullWrite(write: Write, conditions: readonly Condition[], full: readonly Condition[]): Write {
    let key: string | undefined
    for (let index = 0; index < conditions.length; index += 1) {
      if ((conditions[index] as Condition).key === write.key) key = (full[index] as Condition).key
    }
    key ??= this.#full(write.key)
    return write.kind === "put" ? { kind: "put", key, value: write.value } : { kind: "delete", key }
  }

  /** The prefix is part of the check because a concatenation is copied to be searched. */
  #full(key: string, least = 1): string {
    if (key.length < least || key.length > MAX_KEY_BYTES) {
      assert.fail(`a key must have ${least} to ${MAX_KEY_BYTES} characters (got ${key.length})`)
    }
    const full = this.#prefix + key
    if (!PRINTABLE.test(full)) {
      assert.fail("a key must consist of printable ASCII characters without spaces")
    }
    return full
  }

  #bare(key: string): string {
    return key.slice(this.#prefix.length)
  }

  #own(entry: Entry): Entry {
    return { ...entry, key: this.#bare(entry.key) }
  }

  readonly #bareResult = (result: CommitResult): CommitResult => {
    switch (result.kind) {
      case "committed": {
        const { kind, revision, read } = result
        return read.length === 0 ? result : { kind, revision, read: read.map(this.#ownIfAny) }
      }
      case "refused": {
        const found = result.found.map(({ key, entry }) => ({
          key: this.#bare(key),
          entry: this.#ownIfAny(entry),
        }))
        return { ...result, found }
      }
      case "epoch-changed":
        return result
    }
  }

  readonly #ownIfAny = (entry: Entry | undefined): Entry | undefined => entry && this.#own(entry)
}

/** Builds no message unless there is one to report: this is part of every save. */
function checkLimits(
  conditions: Commit["conditions"],
  writes: Commit["writes"],
  reads: readonly string[],
): void {
  if (conditions.length > MAX_CONDITIONS || writes.length + reads.length > MAX_OPERATIONS) {
    assert.fail(
      `a commit must have at most ${MAX_CONDITIONS} conditions and ${MAX_OPERATIONS} writes and reads (got ${conditions.length} and ${writes.length + reads.length})`,
    )
  }
  const bytes = sizeOf(conditions, writes, reads)
  if (bytes > MAX_COMMIT_BYTES) {
    assert.fail(`a commit must have at most ${MAX_COMMIT_BYTES} bytes (got ${bytes})`)
  }
  if (writes.length > 1 && writesTwice(writes)) assert.fail("a commit must not write a key twice")
  if (reads.length > 0) checkReads(reads, writes)
}

function writesTwice(writes: Commit["writes"]): boolean {
  if (writes.length > MAX_COMPARED) return new Set(writes.map(({ key }) => key)).size < writes.length
  return writes.some(({ key }, index) => {
    for (let other = 0; other < index; other += 1) if (writes[other]?.key === key) return true
    return false
  })
}

function checkReads(reads: readonly string[], writes: Commit["writes"]): void {
  if (reads.length > MAX_READS) {
    assert.fail(`a commit must have at most ${MAX_READS} reads (got ${reads.length})`)
  }
  if (writes.some(({ key }) => reads.includes(key))) {
    assert.fail("a commit must not read a key that it writes")
  }
}

function sizeOf(
  conditions: Commit["conditions"],
  writes: Commit["writes"],
  reads: readonly string[],
): number {
  let bytes = 0
  for (const { key } of conditions) bytes += key.length
  for (const write of writes) bytes += write.key.length + (write.kind === "put" ? write.value.length : 0)
  for (const key of reads) bytes += key.length
  return bytes
}

/** So many keys are compared with each other in less time than a set of them takes. */
const MAX_COMPARED = 8

const NO_KEYS: readonly string[] = []

const PRINTABLE = /^[\x21-\x7e]*$/

export const MAX_KEY_BYTES = 2_400

/** The limits of a commit fit those that etcd has by default, with room for a condition on the epoch. */
export const MAX_CONDITIONS = 127
/** Writes and reads. */
const MAX_OPERATIONS = 128
/** Few, as the values of all of them are in one answer, and each may have a MiB. */
const MAX_READS = 8
/** A value of 1 MiB, and 64 KiB for keys and heads. */
const MAX_COMMIT_BYTES = 1_024 * 1_024 + 64 * 1_024

/** The most entries of a page. */
export const MAX_PAGE = 1_000

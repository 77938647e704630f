import type {
  Change,
  Commit,
  CommitResult,
  Condition,
  Entry,
  Found,
  Listing,
  Revision,
  Sight,
} from "../ports/store.js"

/**
 * The keys of a store and the judgement of commits, in memory: what the stores that hold their keys themselves have in common.
 * Every call is one moment. Bytes are copied on their way in and out, so that nobody changes them afterwards.
 */
export class StoreState {
  readonly identity: string
  #epoch: string
  #revision: Revision = 0
  readonly #entries = new Map<string, Entry>()
  /** The last commits, the oldest first, and the revision of the last one that is not among them. */
  #log: { readonly revision: Revision; readonly changes: readonly Change[] }[] = []
  #logBegins: Revision = 0
  readonly #keptCommits: number

  constructor(identity: string, epoch: string, keptCommits = 10_000) {
    this.identity = identity
    this.#epoch = epoch
    this.#keptCommits = keptCommits
  }

  get epoch(): string {
    return this.#epoch
  }

  get revision(): Revision {
    return this.#revision
  }

  get(key: string): Sight {
    return { epoch: this.#epoch, revision: this.#revision, entry: this.#entry(key) }
  }

  list(prefix: string): Listing {
    const keys = [...this.#entries.keys()].filter((key) => key.startsWith(prefix)).sort()
    return {
      epoch: this.#epoch,
      revision: this.#revision,
      entries: keys.map((key) => this.#entry(key) as Entry),
    }
  }

  commit({ epoch, conditions, writes }: Commit): CommitResult {
    if (epoch !== this.#epoch) return { kind: "epoch-changed", epoch: this.#epoch }
    const found = conditions.flatMap((condition) => this.#contradiction(condition))
    if (found.length > 0) return { kind: "refused", epoch, found }
    if (writes.length === 0) return { kind: "committed", revision: this.#revision }
    this.#revision += 1
    const revision = this.#revision
    const changes = writes.map((write): Change => {
      const { key } = write
      if (write.kind === "delete") {
        this.#entries.delete(key)
        return { key, revision, value: undefined }
      }
      const value = write.value.slice()
      this.#entries.set(key, { key, value, revision })
      return { key, revision, value }
    })
    this.#log.push({ revision, changes })
    if (this.#log.length > 2 * this.#keptCommits) this.#trimLog()
    return { kind: "committed", revision }
  }

  /** The commits after a revision, as far as they touch the prefix; undefined if they are not all known any more. */
  changesAfter(prefix: string, from: Revision): readonly (readonly Change[])[] | undefined {
    if (from < this.#logBegins || from > this.#revision) return undefined
    return this.#log
      .slice(this.#firstAfter(from))
      .map(({ changes }) => changes.filter(({ key }) => key.startsWith(prefix)).map(copied))
      .filter((changes) => changes.length > 0)
  }

  /** Something is not as it was: what was known of it holds no more. */
  renew(epoch: string): void {
    this.#epoch = epoch
    this.#log = []
    // No watch is up to date any more, not even one that had seen everything.
    this.#revision += 1
    this.#logBegins = this.#revision
  }

  #entry(key: string): Entry | undefined {
    const entry = this.#entries.get(key)
    return entry === undefined ? undefined : { ...entry, value: entry.value.slice() }
  }

  #contradiction(condition: Condition): Found[] {
    const { key } = condition
    const entry = this.#entry(key)
    const holds = condition.kind === "absent" ? entry === undefined : entry?.revision === condition.revision
    return holds ? [] : [{ key, entry }]
  }

  #trimLog(): void {
    this.#log = this.#log.slice(-this.#keptCommits)
    this.#logBegins = (this.#log[0]?.revision ?? this.#revision + 1) - 1
  }

  /** Revisions in the log have no gaps. */
  #firstAfter(from: Revision): number {
    return from - this.#logBegins
  }
}

function copied(change: Change): Change {
  return { ...change, value: change.value?.slice() }
}

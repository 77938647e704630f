import assert from "node:assert/strict"
import type {
  Change,
  Commit,
  CommitResult,
  Condition,
  Entry,
  Found,
  Listing,
  Moment,
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
  /** The last commits that changed something, the oldest first. Their revisions have no gaps. */
  #log: LoggedCommit[] = []
  #logBytes = 0
  readonly #kept: KeptLog

  constructor(identity: string, epoch: string, kept: Partial<KeptLog> = {}) {
    this.identity = identity
    this.#epoch = epoch
    this.#kept = { commits: 10_000, bytes: 64 * 1024 * 1024, ...kept }
  }

  get moment(): Moment {
    return { epoch: this.#epoch, revision: this.#revision }
  }

  /** The changes after it are all known. */
  get oldestKnown(): Revision {
    return this.#revision - this.#log.length
  }

  get(key: string): Sight {
    return { ...this.moment, entry: this.#sightOf(key) }
  }

  list(prefix: string): Listing {
    const keys = [...this.#entries.keys()].filter((key) => key.startsWith(prefix)).sort()
    return { ...this.moment, entries: keys.map((key) => this.#sightOf(key) as Entry) }
  }

  commit({ epoch, conditions, writes }: Commit): CommitResult {
    if (epoch !== this.#epoch) return { kind: "epoch-changed", epoch: this.#epoch }
    const found = conditions.flatMap((condition) => this.#contradiction(condition))
    if (found.length > 0) return { kind: "refused", ...this.moment, found }
    const effective = writes.filter(({ kind, key }) => kind === "put" || this.#entries.has(key))
    if (effective.length > 0) {
      this.#revision += 1
      const revision = this.#revision
      this.#keep(
        effective.map((write) => {
          const value = write.kind === "put" ? new Uint8Array(write.value) : undefined
          return this.#change({ key: write.key, revision, value })
        }),
      )
    }
    return { kind: "committed", revision: this.#revision }
  }

  /** The commits after a moment, as far as they touch the prefix; undefined if they are not all known, or not any more. */
  changesAfter(prefix: string, from: Moment): readonly (readonly Change[])[] | undefined {
    if (from.epoch !== this.#epoch || from.revision > this.#revision) return undefined
    const first = from.revision - this.oldestKnown
    if (first < 0) return undefined
    return this.#log
      .slice(first)
      .map(({ changes }) => changes.filter(({ key }) => key.startsWith(prefix)).map(copied))
      .filter((changes) => changes.length > 0)
  }

  /** History is cut: all is as it was after the commit of that revision, and what came since has never been. */
  rewind(to: Revision, epoch: string): void {
    assert(
      to >= this.oldestKnown && to <= this.#revision,
      `Revision ${to} is not known any more, or not yet.`,
    )
    assert(epoch !== this.#epoch, "A history that is cut begins a new epoch.")
    while (this.#revision > to) {
      const { changes, before, bytes } = this.#log.pop() as LoggedCommit
      for (const [index, { key }] of changes.entries()) {
        const entry = before[index]
        if (entry === undefined) this.#entries.delete(key)
        else this.#entries.set(key, entry)
      }
      this.#logBytes -= bytes
      this.#revision -= 1
    }
    this.#epoch = epoch
  }

  #sightOf(key: string): Entry | undefined {
    const entry = this.#entries.get(key)
    return entry === undefined ? undefined : { ...entry, value: new Uint8Array(entry.value) }
  }

  #contradiction(condition: Condition): Found[] {
    const { key } = condition
    const revision = this.#entries.get(key)?.revision
    const holds = condition.kind === "absent" ? revision === undefined : revision === condition.revision
    return holds ? [] : [{ key, entry: this.#sightOf(key) }]
  }

  #change(change: Change): { readonly change: Change; readonly before: Entry | undefined } {
    const { key, revision, value } = change
    const before = this.#entries.get(key)
    if (value === undefined) this.#entries.delete(key)
    else this.#entries.set(key, { key, value, revision })
    return { change, before }
  }

  #keep(made: readonly { readonly change: Change; readonly before: Entry | undefined }[]): void {
    const bytes = made.reduce((sum, { change }) => sum + change.key.length + (change.value?.length ?? 0), 0)
    this.#log.push({
      changes: made.map(({ change }) => change),
      before: made.map(({ before }) => before),
      bytes,
    })
    this.#logBytes += bytes
    // Up to twice as much is kept, so that the log is not copied for every commit.
    if (this.#log.length > 2 * this.#kept.commits || this.#logBytes > 2 * this.#kept.bytes) this.#trimLog()
  }

  #trimLog(): void {
    let first = Math.max(0, this.#log.length - this.#kept.commits)
    let bytes = this.#log.slice(first).reduce((sum, one) => sum + one.bytes, 0)
    while (bytes > this.#kept.bytes) {
      bytes -= (this.#log[first] as LoggedCommit).bytes
      first += 1
    }
    this.#log = this.#log.slice(first)
    this.#logBytes = bytes
  }
}

/** How much of the past is known for certain. */
export interface KeptLog {
  readonly commits: number
  readonly bytes: number
}

interface LoggedCommit {
  readonly changes: readonly Change[]
  /** What stood at the key of each change. */
  readonly before: readonly (Entry | undefined)[]
  readonly bytes: number
}

function copied(change: Change): Change {
  return { ...change, value: change.value === undefined ? undefined : new Uint8Array(change.value) }
}

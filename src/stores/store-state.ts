import assert from "node:assert/strict"
import type {
  Change,
  Commit,
  CommitResult,
  Condition,
  Entry,
  Found,
  Listing,
  ListOptions,
  Moment,
  Revision,
  Sight,
} from "../ports/store.js"
import { NOTHING_READ } from "./nothing-read.js"
import { isWatched } from "./watched-keys.js"

/**
 * The keys of a store and the evaluation of commits, in memory: the common part of the stores that keep their
 * keys themselves. Every call is one moment. Bytes are copied on their way in and out, so that nobody can
 * change them afterwards.
 */
export class StoreState {
  readonly identity: string
  #epoch: string
  #revision: Revision = 0
  readonly #entries = new Map<string, Entry>()
  /** The keys in the order of their bytes; undefined since a key was added or deleted. */
  #sorted: readonly string[] | undefined
  /** The last commits that changed watched keys, by their revisions; with `undo` those that changed any. */
  #log: LoggedCommit[] = []
  #oldestKnown: Revision = 0
  #logBytes = 0
  readonly #kept: KeptLog
  /** The last small value of each length. All placements of a node have the same value. */
  readonly #recent: Uint8Array[] = []

  constructor(identity: string, epoch: string, kept: Partial<KeptLog> = {}) {
    this.identity = identity
    this.#epoch = epoch
    this.#kept = { commits: 10_000, bytes: 64 * 1024 * 1024, undo: false, ...kept }
  }

  get moment(): Moment {
    return { epoch: this.#epoch, revision: this.#revision }
  }

  /** The earliest revision after which all changes are known. */
  get oldestKnown(): Revision {
    return this.#oldestKnown
  }

  /** The number of commits that can be undone. */
  get knownCommits(): number {
    return this.#log.length
  }

  get(key: string): Sight {
    const entry = this.#sightOf(key)
    return entry === undefined
      ? { epoch: this.#epoch, entry, absentAt: this.#revision }
      : { epoch: this.#epoch, entry }
  }

  list(prefix: string, { after = "", limit = Infinity, keysOnly = false }: ListOptions = {}): Listing {
    this.#sorted ??= [...this.#entries.keys()].sort()
    const keys = this.#sorted
    const entries: Entry[] = []
    let at = after < prefix ? firstAt(keys, prefix) : firstAt(keys, `${after}\0`)
    for (; keys[at]?.startsWith(prefix) && entries.length < limit; at += 1) {
      const entry = this.#entries.get(keys[at] as string) as Entry
      entries.push({ ...entry, value: keysOnly ? NOTHING : new Uint8Array(entry.value) })
    }
    return { ...this.moment, entries, more: keys[at]?.startsWith(prefix) ?? false }
  }

  commit(commit: Commit): CommitResult {
    const refusal = this.refusal(commit)
    if (refusal !== undefined) return refusal
    const isChange = commit.writes.some(({ kind, key }) => kind === "put" || this.#entries.has(key))
    return isChange
      ? this.apply(commit, this.nextRevision())
      : { kind: "committed", revision: this.#revision, read: this.#read(commit) }
  }

  /** The answer to a commit that cannot be made now; undefined if all of its conditions hold. */
  refusal({
    epoch,
    conditions,
  }: Commit): Extract<CommitResult, { kind: "refused" | "epoch-changed" }> | undefined {
    if (epoch !== this.#epoch) return { kind: "epoch-changed", epoch: this.#epoch }
    const found = conditions.flatMap((condition) => this.#contradiction(condition))
    return found.length > 0 ? { kind: "refused", epoch, found } : undefined
  }

  /** Gives out a revision, which is above all before it. */
  nextRevision(step = 1): Revision {
    this.#revision += step
    return this.#revision
  }

  /**
   * Makes a commit whose conditions hold, at a revision that was given out for it. Commits to different keys
   * need not be made in the order of their revisions: all up to `settled` have been made.
   */
  apply(commit: Commit, revision: Revision, settled = revision): CommitResult {
    const effective = commit.writes.filter(({ kind, key }) => kind === "put" || this.#entries.has(key))
    const made = effective.map((write) => {
      const value = write.kind === "put" ? this.#copy(write.value) : undefined
      return this.#change({ key: write.key, revision, value })
    })
    if (made.length > 0) this.#keep(revision, made, settled)
    return { kind: "committed", revision, read: this.#read(commit) }
  }

  /**
   * Returns the commits after a moment, as far as they touch the prefix, in the order of their revisions up
   * to `upTo`; or undefined if they are not all known any longer.
   */
  changesAfter(
    prefix: string,
    from: Moment,
    upTo = this.#revision,
  ): readonly (readonly Change[])[] | undefined {
    if (from.epoch !== this.#epoch || from.revision > this.#revision) return undefined
    if (from.revision < this.#oldestKnown) return undefined
    let first = this.#log.length
    while (first > 0 && (this.#log[first - 1] as LoggedCommit).revision > from.revision) first -= 1
    const commits: Change[][] = []
    for (let at = first; at < this.#log.length; at += 1) {
      if ((this.#log[at] as LoggedCommit).revision > upTo) break
      let touched: Change[] | undefined
      for (const change of (this.#log[at] as LoggedCommit).changes) {
        if (!change.key.startsWith(prefix)) continue
        touched ??= []
        touched.push(copied(change))
      }
      if (touched !== undefined) commits.push(touched)
    }
    return commits
  }

  /**
   * Truncates history: undoes the last commits. Revisions continue above those that were issued, since one
   * may have been passed to another system as a fencing token.
   */
  rewind(commits: number, epoch: string): void {
    assert(this.#kept.undo, "a state must be created with `undo` to be rewound")
    assert(commits <= this.#log.length, `only the last ${this.#log.length} commits are known`)
    assert(epoch !== this.#epoch, "a truncated history must begin a new epoch")
    for (let count = 0; count < commits; count += 1) {
      const { changes, before, bytes } = this.#log.pop() as LoggedCommit
      for (const [index, { key }] of changes.entries()) {
        const entry = before[index]
        if (entry === undefined) this.#entries.delete(key)
        else this.#entries.set(key, entry)
      }
      this.#logBytes -= bytes
    }
    this.#sorted = undefined
    this.#epoch = epoch
    this.#revision += 1
  }

  #read({ reads }: Commit): readonly (Entry | undefined)[] {
    return reads === undefined ? NOTHING_READ : reads.map((key) => this.#sightOf(key))
  }

  #sightOf(key: string): Entry | undefined {
    const entry = this.#entries.get(key)
    return entry === undefined ? undefined : { ...entry, value: new Uint8Array(entry.value) }
  }

  /**
   * Copies bytes. Of consecutive equal small values of the same length one copy is kept, because these bytes
   * never change.
   */
  #copy(value: Uint8Array): Uint8Array {
    if (value.length > MOST_SHARED_BYTES) return new Uint8Array(value)
    const recent = this.#recent[value.length]
    if (recent !== undefined && Buffer.compare(recent, value) === 0) return recent
    const copy = new Uint8Array(value)
    this.#recent[value.length] = copy
    return copy
  }

  #contradiction(condition: Condition): Found[] {
    const { key } = condition
    const revision = this.#entries.get(key)?.revision
    const holds = condition.kind === "absent" ? revision === undefined : revision === condition.revision
    return holds ? [] : [{ key, entry: this.#sightOf(key) }]
  }

  #change(change: Change): MadeChange {
    const { key, revision, value } = change
    const before = this.#entries.get(key)
    if ((before === undefined) !== (value === undefined)) this.#sorted = undefined
    if (value === undefined) this.#entries.delete(key)
    else this.#entries.set(key, { key, value, revision })
    return { change, before }
  }

  #keep(revision: Revision, all: readonly MadeChange[], settled: Revision): void {
    const made = this.#kept.undo ? all : all.filter(({ change }) => isWatched(change.key))
    if (made.length === 0) return
    const bytes = made.reduce((sum, { change }) => sum + change.key.length + (change.value?.length ?? 0), 0)
    let at = this.#log.length
    while (at > 0 && (this.#log[at - 1] as LoggedCommit).revision > revision) at -= 1
    const logged = {
      revision,
      changes: made.map(({ change }) => change),
      before: made.map(({ before }) => before),
      bytes,
    }
    if (at === this.#log.length) this.#log.push(logged)
    else this.#log.splice(at, 0, logged)
    this.#logBytes += bytes
    // Up to twice as much is kept, so that the log is not copied for every commit.
    if (this.#log.length > 2 * this.#kept.commits || this.#logBytes > 2 * this.#kept.bytes)
      this.#trimLog(settled)
  }

  /** Keeps what a watch from a moment that is settled needs. */
  #trimLog(settled: Revision): void {
    let first = Math.max(0, this.#log.length - this.#kept.commits)
    let bytes = this.#log.slice(first).reduce((sum, one) => sum + one.bytes, 0)
    while (bytes > this.#kept.bytes) {
      bytes -= (this.#log[first] as LoggedCommit).bytes
      first += 1
    }
    while (first > 0 && (this.#log[first - 1] as LoggedCommit).revision > settled) {
      first -= 1
      bytes += (this.#log[first] as LoggedCommit).bytes
    }
    if (first > 0) this.#oldestKnown = (this.#log[first - 1] as LoggedCommit).revision
    this.#log = this.#log.slice(first)
    this.#logBytes = bytes
  }
}

const MOST_SHARED_BYTES = 64

/** How much of the history is kept. */
export interface KeptLog {
  readonly commits: number
  readonly bytes: number
  /** Whether commits can be undone, which keeps the changes of all keys. */
  readonly undo: boolean
}

/** A change, and the entry that it replaced. */
interface MadeChange {
  readonly change: Change
  readonly before: Entry | undefined
}

interface LoggedCommit {
  readonly revision: Revision
  readonly changes: readonly Change[]
  /** The previous entry of each changed key. */
  readonly before: readonly (Entry | undefined)[]
  readonly bytes: number
}

/** The index of the first key that is not before that text. */
function firstAt(keys: readonly string[], text: string): number {
  let [low, high] = [0, keys.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((keys[middle] as string) < text) low = middle + 1
    else high = middle
  }
  return low
}

const NOTHING = new Uint8Array(0)

function copied({ key, revision, value }: Change): Change {
  return { key, revision, value: value === undefined ? undefined : new Uint8Array(value) }
}

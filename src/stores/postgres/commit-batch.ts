import type { Commit, CommitResult, Entry, Found } from "../../ports/store.js"
import { NOTHING_READ } from "../nothing-read.js"
import { isWatched } from "../watched-keys.js"
import { bigintArray, booleanArray, byteaArray, intArray, textArray } from "./binary-array.js"
import type { Parameter, Row } from "./driver.js"
import type { Witness } from "./epoch-memory.js"
import { bytesOf, type Head } from "./rows.js"
import { REVISIONS_PER_TRANSACTION } from "./store-schema.js"

/** Commits that travel together: of one epoch, none in conflict with another, within the limits. */
export class CommitBatch {
  readonly epoch: string
  readonly #commits: Commit[] = []
  /** The distinct keys, and their positions from 1. */
  readonly #keys = new Map<string, number>()
  readonly #written: boolean[] = []
  readonly #conditions: { commits: number[]; at: number[]; revisions: (number | undefined)[] } = {
    commits: [],
    at: [],
    revisions: [],
  }
  readonly #puts: { commits: number[]; at: number[]; values: Uint8Array[]; watched: boolean[] } = {
    commits: [],
    at: [],
    values: [],
    watched: [],
  }
  readonly #deletes: { commits: number[]; at: number[]; watched: boolean[] } = {
    commits: [],
    at: [],
    watched: [],
  }
  readonly #reads: { commits: number[]; at: number[] } = { commits: [], at: [] }
  #bytes = 0
  /** The number of changes that have to be removed some day. */
  logged = 0

  constructor(epoch: string) {
    this.epoch = epoch
  }

  /** Returns whether there is a write to a key that can be watched. */
  get isWatched(): boolean {
    return this.#puts.watched.includes(true) || this.#deletes.watched.includes(true)
  }

  /** Adds a commit, or returns false if it has to travel in a later batch. */
  add(commit: Commit): boolean {
    if (commit.epoch !== this.epoch) return false
    if (this.#commits.length > 0 && !this.#hasRoomFor(commit)) return false
    const index = this.#commits.length
    this.#commits.push(commit)
    for (const condition of commit.conditions) {
      this.#conditions.commits.push(index)
      this.#conditions.at.push(this.#position(condition.key, false))
      this.#conditions.revisions.push(condition.kind === "at" ? condition.revision : undefined)
    }
    for (const write of commit.writes) {
      const at = this.#position(write.key, true)
      const watched = isWatched(write.key)
      if (watched || write.kind === "delete") this.logged += 1
      const of = write.kind === "put" ? this.#puts : this.#deletes
      of.commits.push(index)
      of.at.push(at)
      of.watched.push(watched)
      if (write.kind !== "put") continue
      this.#puts.values.push(write.value)
      this.#bytes += write.value.length
    }
    for (const key of commit.reads ?? []) {
      this.#reads.commits.push(index)
      this.#reads.at.push(this.#position(key, false))
    }
    return true
  }

  /** The arguments of the function `commit_2`, after the first three. */
  get values(): readonly Parameter[] {
    const [conditions, puts, deletes, reads] = [this.#conditions, this.#puts, this.#deletes, this.#reads]
    return [
      textArray([...this.#keys.keys()]),
      booleanArray(this.#written),
      intArray(conditions.commits),
      intArray(conditions.at),
      bigintArray(conditions.revisions),
      intArray(puts.commits),
      intArray(puts.at),
      byteaArray(puts.values),
      booleanArray(puts.watched),
      intArray(deletes.commits),
      intArray(deletes.at),
      booleanArray(deletes.watched),
      intArray(reads.commits),
      intArray(reads.at),
    ]
  }

  /** Returns the result of each commit. */
  results({ epoch, n, revision }: Head, rows: readonly Row[]): readonly CommitResult[] {
    if (epoch !== this.epoch) return this.#commits.map(() => ({ kind: "epoch-changed", epoch }))
    const found = this.#found(rows)
    const read = this.#read(rows)
    return this.#commits.map((_, index): CommitResult => {
      const contradictions = found.get(index)
      if (contradictions !== undefined) return { kind: "refused", epoch, found: contradictions }
      return { kind: "committed", revision: revision + index * n, read: read.get(index) ?? NOTHING_READ }
    })
  }

  /** Returns a key that one of the commits has put, with its revision. */
  witnessOf(results: readonly CommitResult[]): Witness | undefined {
    for (const [index, result] of results.entries()) {
      if (result.kind !== "committed") continue
      const put = this.#commits[index]?.writes.find(({ kind }) => kind === "put")
      if (put !== undefined) return { key: put.key, revision: result.revision }
    }
    return undefined
  }

  #found(rows: readonly Row[]): Map<number, Found[]> {
    const found = new Map<number, Found[]>()
    const all = rows.length === 0 ? [] : this.#commits.flatMap(({ conditions }) => conditions)
    for (const row of rows) {
      const position = positionOf(row) - 1
      if (position < 0) continue
      const { key } = all[position] as { key: string }
      const entry = entryOf(key, row)
      const commit = this.#conditions.commits[position] as number
      const ofCommit = found.get(commit)
      if (ofCommit === undefined) found.set(commit, [{ key, entry }])
      else ofCommit.push({ key, entry })
    }
    return found
  }

  #read(rows: readonly Row[]): Map<number, (Entry | undefined)[]> {
    const read = new Map<number, (Entry | undefined)[]>()
    if (this.#reads.at.length === 0) return read
    const all = this.#commits.flatMap(({ reads = [] }) => reads)
    for (const row of rows) {
      const position = -positionOf(row) - 1
      if (position < 0) continue
      const entry = entryOf(all[position] as string, row)
      const commit = this.#reads.commits[position] as number
      const ofCommit = read.get(commit)
      if (ofCommit === undefined) read.set(commit, [entry])
      else ofCommit.push(entry)
    }
    return read
  }

  #position(key: string, isWritten: boolean): number {
    let position = this.#keys.get(key)
    if (position === undefined) {
      position = this.#keys.size + 1
      this.#keys.set(key, position)
      this.#written.push(isWritten)
    } else if (isWritten) this.#written[position - 1] = true
    return position
  }

  #hasRoomFor({ conditions, writes, reads = [] }: Commit): boolean {
    let bytes = this.#bytes
    for (const write of writes) if (write.kind === "put") bytes += write.value.length
    return (
      this.#commits.length < MOST_COMMITS &&
      this.#keys.size + conditions.length + writes.length + reads.length <= MOST_KEYS &&
      this.#reads.at.length + reads.length <= MOST_READS &&
      bytes <= MOST_BYTES
    )
  }
}

function positionOf([, , , , n]: Row): number {
  return Number(n)
}

function entryOf(key: string, [, , , , , , revision, value]: Row): Entry | undefined {
  return value === null ? undefined : { key, revision: Number(revision), value: bytesOf(value) }
}

/** All indexes but the last, which belongs to transactions that changed nothing. */
const MOST_COMMITS = REVISIONS_PER_TRANSACTION - 1
/** Each key has a lock, and a server has room for 64 locks of each connection by default, on average. */
const MOST_KEYS = 160
const MOST_BYTES = 1024 * 1024
/** Their values are in one answer, as those of so many `get`s are. */
const MOST_READS = 64

import { assert } from "../../errors/assert.js"
import { type Commitment, type StoreProblem, StoreUnavailableError } from "../../errors/store-errors.js"
import type {
  Change,
  Commit,
  CommitResult,
  Condition,
  Entry,
  Found,
  ListOptions,
  Moment,
  Revision,
  Write,
} from "../../ports/store.js"
import { type Packing, type Parcel, type Slice, Unpacking } from "./parcel.js"

/**
 * The requests to the worker. All but `cancel` and `close` are answered under their id, a watch until it
 * ends.
 */
export type Request =
  | { readonly kind: "open"; readonly id: number }
  | { readonly kind: "renew-epoch"; readonly id: number }
  | ({ readonly kind: "get"; readonly id: number; readonly key: string } & Turn)
  | ({
      readonly kind: "list"
      readonly id: number
      readonly prefix: string
      readonly options: ListOptions
    } & Turn)
  | CommitRequest
  | { readonly kind: "watch"; readonly id: number; readonly prefix: string; readonly from: Moment }
  | { readonly kind: "cancel"; readonly id: number }
  /** The last request. */
  | { readonly kind: "close"; readonly id: number }

/** When a request is served. */
export interface Turn {
  /** Whether it goes ahead of requests that do not set this. */
  readonly isFirst?: true
  /** Since when it waits, if that is longer than its parcel, on the clock that all threads share. */
  readonly sinceMs?: number
}

/** The values of a commit are views of its parcel, and valid for as long as that is not changed. */
export interface CommitRequest extends Turn {
  readonly kind: "commit"
  readonly id: number
  readonly commit: Commit
  /** The number of bytes that it puts. */
  readonly weight: number
}

/** The messages of the worker. */
export type Report =
  | { readonly kind: "opened"; readonly id: number; readonly identity: string; readonly inode: string }
  | { readonly kind: "renewed"; readonly id: number; readonly epoch: string }
  | { readonly kind: "sight"; readonly id: number; readonly epoch: string; readonly entry: PackedEntry }
  | { readonly kind: "absent"; readonly id: number; readonly epoch: string; readonly absentAt: Revision }
  | ({
      readonly kind: "page"
      readonly id: number
      readonly entries: readonly PackedEntry[]
      readonly more: boolean
    } & Moment)
  /** `read` is left out where nothing was to be read, which is nearly always. */
  | {
      readonly kind: "committed"
      readonly id: number
      readonly revision: Revision
      readonly read?: readonly (PackedEntry | null)[]
    }
  | {
      readonly kind: "refused"
      readonly id: number
      readonly epoch: string
      readonly found: readonly PackedFound[]
    }
  | { readonly kind: "epoch-changed"; readonly id: number; readonly epoch: string }
  | { readonly kind: "failed"; readonly id: number; readonly failure: Failure }
  | {
      readonly kind: "changed"
      readonly id: number
      readonly through: Revision
      readonly commits: readonly (readonly PackedChange[])[]
    }
  | { readonly kind: "gap"; readonly id: number }
  /** The file has a second name. */
  | { readonly kind: "linked"; readonly id: 0 }
  /**
   * The last message of the worker, with the failure that ended it. Requests that have not been answered by
   * now were not started.
   */
  | { readonly kind: "over"; readonly id: 0; readonly failure: Failure }

/** A `StoreUnavailableError` in the form in which it passes between threads. */
export interface Failure {
  readonly message: string
  readonly commitment: Commitment
  readonly problem: StoreProblem
  readonly cause?: string
}

interface PackedEntry {
  readonly key: string
  readonly revision: Revision
  readonly value: Slice
}

interface PackedFound {
  readonly key: string
  readonly entry?: PackedEntry
}

interface PackedChange {
  readonly key: string
  readonly revision: Revision
  readonly value?: Slice
}

export function packCommit(
  id: number,
  { epoch, conditions, writes, reads = NO_KEYS }: Commit,
  { isFirst = false, sinceMs = NEVER }: { readonly isFirst?: boolean; readonly sinceMs?: number | undefined },
  packing: Packing<Request>,
): void {
  // Keys are checked before, and contain no line feed.
  assert(!epoch.includes("\n"), "an epoch must not contain a line feed")
  packing.addPacked()
  packing.number(id)
  packing.number(isFirst ? 1 : 0)
  packing.number(sinceMs)
  packing.word(epoch)
  packing.number(conditions.length)
  for (const condition of conditions) {
    packing.word(condition.key)
    packing.number(condition.kind === "at" ? condition.revision : ABSENT)
  }
  packing.number(writes.length)
  for (const write of writes) {
    packing.word(write.key)
    packing.number(write.kind === "put" ? write.value.length : DELETED)
    if (write.kind !== "put") continue
    packing.number(packing.length)
    packing.append(write.value)
  }
  packing.number(reads.length)
  for (const key of reads) packing.word(key)
}

export function requestsOf(parcel: Parcel): readonly Request[] {
  return new Unpacking(parcel).items(unpackCommit)
}

function unpackCommit(packed: Unpacking): Request {
  const id = packed.number()
  const isFirst = packed.number() === 1
  const sinceMs = packed.number()
  const epoch = packed.word()
  const conditions: Condition[] = []
  for (let left = packed.number(); left > 0; left -= 1) {
    const key = packed.word()
    const revision = packed.number()
    conditions.push(revision === ABSENT ? { kind: "absent", key } : { kind: "at", key, revision })
  }
  const writes: Write[] = []
  let weight = 0
  for (let left = packed.number(); left > 0; left -= 1) {
    const key = packed.word()
    const length = packed.number()
    if (length === DELETED) writes.push({ kind: "delete", key })
    else {
      const from = packed.number()
      writes.push({ kind: "put", key, value: packed.bytes.subarray(from, from + length) })
      weight += length
    }
  }
  let reads: string[] | undefined
  for (let left = packed.number(); left > 0; left -= 1) {
    reads ??= []
    reads.push(packed.word())
  }
  const request = { kind: "commit", id, commit: { epoch, conditions, writes, reads }, weight } as const
  if (!isFirst && sinceMs === NEVER) return request
  return { ...request, ...(isFirst && { isFirst }), ...(sinceMs !== NEVER && { sinceMs }) }
}

/** In place of a revision, the length of a value, and the time since when a request waits. */
const ABSENT = -1
const DELETED = -1
const NEVER = -1

const NO_KEYS: readonly string[] = []

export function packResult(id: number, result: CommitResult, packing: Packing<Report>): void {
  if (result.kind === "epoch-changed") return packing.add({ id, ...result })
  if (result.kind === "committed") {
    const { kind, revision, read } = result
    if (read.length > 0) {
      return packing.add({ kind, id, revision, read: read.map((entry) => packIfAny(entry, packing)) })
    }
    packing.addPacked()
    packing.number(id)
    packing.number(revision)
    return
  }
  const found = result.found.map(
    ({ key, entry }): PackedFound => (entry ? { key, entry: packEntry(entry, packing) } : { key }),
  )
  packing.add({ id, ...result, found })
}

export function reportsOf(parcel: Parcel): {
  readonly reports: readonly Report[]
  readonly bytes: Uint8Array
} {
  const unpacking = new Unpacking(parcel)
  return { reports: unpacking.items(unpackCommitted), bytes: unpacking.bytes }
}

function unpackCommitted(packed: Unpacking): Report {
  return { kind: "committed", id: packed.number(), revision: packed.number() }
}

export function packFailure({ message, commitment, problem, cause }: StoreUnavailableError): Failure {
  const said = cause instanceof Error ? cause.message : cause
  return { message, commitment, problem, ...(said === undefined ? {} : { cause: String(said) }) }
}

export function unpackFailure({ message, commitment, problem, cause }: Failure): StoreUnavailableError {
  const options = cause === undefined ? { problem } : { problem, cause: new Error(cause) }
  return new StoreUnavailableError(message, commitment, options)
}

export function packEntry({ key, revision, value }: Entry, packing: Packing<Report>): PackedEntry {
  return { key, revision, value: packing.bytes(value) }
}

function packIfAny(entry: Entry | undefined, packing: Packing<Report>): PackedEntry | null {
  return entry === undefined ? null : packEntry(entry, packing)
}

export function unpackEntry({ key, revision, value }: PackedEntry, bytes: Uint8Array): Entry {
  return { key, revision, value: bytes.slice(...value) }
}

export function unpackFound({ key, entry }: PackedFound, bytes: Uint8Array): Found {
  return { key, entry: entry && unpackEntry(entry, bytes) }
}

export function packChange({ key, revision, value }: Change, packing: Packing<Report>): PackedChange {
  return value === undefined ? { key, revision } : { key, revision, value: packing.bytes(value) }
}

export function unpackChange({ key, revision, value }: PackedChange, bytes: Uint8Array): Change {
  return { key, revision, value: value && bytes.slice(...value) }
}

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
import type { Packing, Slice } from "./parcel.js"

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

/**
 * Conditions and writes are most of what is sent. As flat lists they are parsed in a third of the time that
 * objects take.
 */
export interface CommitRequest extends Turn {
  readonly kind: "commit"
  readonly id: number
  readonly epoch: string
  /** The key of each condition, and its revision, or null if the key must be absent. */
  readonly conditions: readonly (string | Revision | null)[]
  /**
   * The key of each write, or null if it is that of the last condition, as it is for a save; and the slice of
   * its value, or two nulls for a delete.
   */
  readonly writes: readonly (string | number | null)[]
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
  | { readonly kind: "committed"; readonly id: number; readonly revision: Revision }
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
  { epoch, conditions, writes }: Commit,
  packing: Packing<Request>,
): CommitRequest {
  const packedConditions = new Array<string | Revision | null>(2 * conditions.length)
  let at = 0
  for (const condition of conditions) {
    packedConditions[at++] = condition.key
    packedConditions[at++] = condition.kind === "at" ? condition.revision : null
  }
  const lastKey = conditions.at(-1)?.key
  const packedWrites = new Array<string | number | null>(3 * writes.length)
  at = 0
  for (const write of writes) {
    const from = packing.length
    if (write.kind === "put") packing.append(write.value)
    packedWrites[at++] = write.key === lastKey ? null : write.key
    packedWrites[at++] = write.kind === "put" ? from : null
    packedWrites[at++] = write.kind === "put" ? packing.length : null
  }
  return { kind: "commit", id, epoch, conditions: packedConditions, writes: packedWrites }
}

/** The bytes are views of the parcel, and valid for as long as it is not changed. */
export function unpackCommit(request: CommitRequest, bytes: Uint8Array): Commit {
  const conditions: Condition[] = []
  for (let at = 0; at < request.conditions.length; at += 2) {
    const key = request.conditions[at] as string
    const revision = request.conditions[at + 1] as Revision | null
    conditions.push(revision === null ? { kind: "absent", key } : { kind: "at", key, revision })
  }
  const writes: Write[] = []
  for (let at = 0; at < request.writes.length; at += 3) {
    const key = (request.writes[at] ?? conditions.at(-1)?.key) as string
    const from = request.writes[at + 1] as number | null
    const to = request.writes[at + 2] as number
    if (from === null) writes.push({ kind: "delete", key })
    else writes.push({ kind: "put", key, value: bytes.subarray(from, to) })
  }
  return { epoch: request.epoch, conditions, writes }
}

/** The number of bytes that a commit puts. */
export function weightOf({ writes }: CommitRequest): number {
  let weight = 0
  for (let at = 0; at < writes.length; at += 3) weight += Number(writes[at + 2]) - Number(writes[at + 1])
  return weight
}

export function packResult(id: number, result: CommitResult, packing: Packing<Report>): Report {
  if (result.kind === "committed") return { kind: "committed", id, revision: result.revision }
  if (result.kind === "epoch-changed") return { id, ...result }
  const found = result.found.map(
    ({ key, entry }): PackedFound => (entry ? { key, entry: packEntry(entry, packing) } : { key }),
  )
  return { id, ...result, found }
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

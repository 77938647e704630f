import type { IndexProgress } from "../errors/index-errors.js"

/**
 * What the store says of the indexes of one type, under `indexes/<type>`: which ones have all actors, and how
 * far a walk over the others is.
 *
 * An index is complete from a moment on at which all states have their entries in it, and all nodes that host
 * the type declare it, as then every commit keeps it so. A node that hosts the type and declares it otherwise
 * takes that back before it hosts anything (`withoutOthers`): it writes states without these entries.
 */
export interface IndexRecord {
  /** The indexes that have all actors, as `indexText` writes them. */
  readonly complete: readonly string[]
  readonly walk?: IndexWalk | undefined
}

/** A walk over the states of a type, which builds their actors into the indexes. */
export interface IndexWalk extends IndexProgress {
  /** The indexes that it completes. */
  readonly declared: readonly string[]
  /** The last key of a state that it has passed; empty at its beginning. */
  readonly after: string
  /** Whether all actors that it has passed are in the indexes. */
  readonly isClean: boolean
}

/** Without what a node that declares these indexes does not keep complete; undefined if it keeps all. */
export function withoutOthers(record: IndexRecord, declared: readonly string[]): IndexRecord | undefined {
  const complete = record.complete.filter((index) => declared.includes(index))
  const isKept = record.walk === undefined || record.walk.declared.every((index) => declared.includes(index))
  if (isKept && complete.length === record.complete.length) return undefined
  return { complete, walk: isKept ? record.walk : undefined }
}

export function indexRecordKey(type: string): string {
  return INDEXES + type
}

export const INDEXES = "indexes/"

export function encodeIndexRecord(record: IndexRecord): Uint8Array {
  return Buffer.from(JSON.stringify(record))
}

/** Bytes that this version cannot read say that nothing is complete. */
export function decodeIndexRecord(bytes: Uint8Array | undefined): IndexRecord {
  if (bytes === undefined) return NOTHING
  try {
    const { complete, walk } = JSON.parse(Buffer.from(bytes).toString()) as IndexRecord
    return Array.isArray(complete) ? { complete, walk } : NOTHING
  } catch {
    return NOTHING
  }
}

const NOTHING: IndexRecord = { complete: [] }

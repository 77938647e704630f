import { StoreUnavailableError } from "../errors/store-errors.js"
import type { ClusterStore, Entry, Revision } from "../ports/store.js"
import { listAll } from "../registry/list-all.js"
import { decodeRecord, NODES, type NodeRecord } from "../registry/node-record.js"
import { publishedBy } from "../registry/published.js"
import { indexText, type PublishedIndexes } from "../registry/published-indexes.js"
import { statesOf } from "../registry/registry-keys.js"
import { decodeState, STATE_FORMAT } from "../registry/stored-state.js"
import type { ActorType } from "./actor-type.js"
import { decodeIndexed, isOf } from "./index-entries.js"
import {
  decodeIndexRecord,
  encodeIndexRecord,
  INDEXES,
  type IndexRecord,
  indexRecordKey,
  withoutOthers,
} from "./index-record.js"

/** The record of a type's indexes as it was read. */
export interface IndexRecordSeen {
  readonly record: IndexRecord
  /** Undefined if there is none. */
  readonly at: Revision | undefined
  readonly epoch: string
}

/** Reads the record of a type's indexes. */
export async function readIndexRecord(store: ClusterStore, type: string): Promise<IndexRecordSeen> {
  const { epoch, entry } = await store.get(indexRecordKey(type))
  return { record: decodeIndexRecord(entry?.value), at: entry?.revision, epoch }
}

/** Writes the record over the one that was read. Resolves with false if another node has written it since. */
export async function writeIndexRecord(
  store: ClusterStore,
  type: string,
  { at, epoch }: IndexRecordSeen,
  record: IndexRecord,
): Promise<boolean> {
  const key = indexRecordKey(type)
  const { kind } = await store.commit({
    epoch,
    conditions: [at === undefined ? { kind: "absent", key } : { kind: "at", key, revision: at }],
    writes: [{ kind: "put", key, value: encodeIndexRecord(record) }],
  })
  return kind === "committed"
}

/**
 * Takes back that indexes are complete which this node does not keep so. Called when the node has joined, so
 * that others know of it, and before it hosts anything.
 */
export async function takeBackIndexes(store: ClusterStore, types: Iterable<ActorType>): Promise<void> {
  const { entries, epoch } = await listAll(store, INDEXES)
  if (entries.length === 0) return
  const records = new Map(entries.map((entry) => [entry.key, entry]))
  for (const { name, indexes } of types) {
    const entry = records.get(indexRecordKey(name))
    if (entry !== undefined) await takeBack(store, name, indexes.map(indexText), { entry, epoch })
  }
}

async function takeBack(
  store: ClusterStore,
  type: string,
  declared: readonly string[],
  { entry, epoch }: { readonly entry: Entry; readonly epoch: string },
): Promise<void> {
  let seen: IndexRecordSeen = { record: decodeIndexRecord(entry.value), at: entry.revision, epoch }
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const kept = withoutOthers(seen.record, declared)
    if (kept === undefined || (await writeIndexRecord(store, type, seen, kept))) return
    seen = await readIndexRecord(store, type)
  }
  const detail = `${indexRecordKey(type)} is written by other nodes all the time`
  throw new StoreUnavailableError(detail, "not-committed")
}

/**
 * What the hosts of a type declare, as the store has it at this moment. Undefined while one of them may write
 * states without what the others declare.
 */
export async function declaredNow(store: ClusterStore, type: string): Promise<PublishedIndexes | undefined> {
  const { entries } = await listAll(store, NODES)
  const published = publishedBy(entries.flatMap(nodeOf))
  return published.stateFormat < STATE_FORMAT ? undefined : published.indexes(type)
}

function nodeOf({ key, value }: Entry): (readonly [string, { readonly record: NodeRecord }])[] {
  const record = decodeRecord(value)
  return record === undefined ? [] : [[key.slice(NODES.length), { record }]]
}

/**
 * Completes the indexes of a type that has few states, if all of these are in them: a new type has none at
 * all, and must not wait for a keeper. Resolves with the record as it is then.
 */
export async function completeIfFew(
  store: ClusterStore,
  type: string,
  seen: IndexRecordSeen,
): Promise<IndexRecord> {
  const declared = await declaredNow(store, type)
  if (declared?.isAgreed !== true) return seen.record
  const { entries, more } = await store.list(statesOf(type), { limit: FEW_STATES })
  if (more || !entries.every((entry) => isEntered(entry, declared))) return seen.record
  const record = { complete: [...declared.agreed.values()].map(indexText) }
  if (await writeIndexRecord(store, type, seen, record)) return record
  return (await readIndexRecord(store, type)).record
}

/** Whether the actor of a state is in all of the indexes, with each of its values. */
export function isEntered({ value }: Entry, { agreed }: PublishedIndexes): boolean {
  try {
    const { indexed, end } = decodeState(value)
    if (end !== undefined) return true
    const entered = decodeIndexed(indexed)
    return [...agreed.values()].every((index) => {
      const known = entered.find(({ name }) => name === index.name)
      return known !== undefined && isOf(known, index) && known.mark === "entered"
    })
  } catch {
    return false
  }
}

const FEW_STATES = 100
const MOST_TRIES = 100

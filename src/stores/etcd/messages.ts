/**
 * The messages of etcd's interface that the store uses, as far as it uses them. Numbers of fields are those
 * of etcd 3.4; later versions only add to them.
 */
import { type ProtobufReader, ProtobufWriter } from "./protobuf.js"

/** The methods that are called, by their paths. */
export const METHODS = {
  range: "/etcdserverpb.KV/Range",
  txn: "/etcdserverpb.KV/Txn",
  watch: "/etcdserverpb.Watch/Watch",
  authenticate: "/etcdserverpb.Auth/Authenticate",
  status: "/etcdserverpb.Maintenance/Status",
} as const

/** A key and its value in etcd, whose revisions are those of the cluster. */
export interface KeyValue {
  readonly key: string
  readonly value: Uint8Array
  readonly modRevision: number
}

interface Range {
  /** The revision of the store when it was read. Absent in a transaction, which has one for all. */
  readonly revision: number
  readonly kvs: readonly KeyValue[]
  readonly more: boolean
}

/** What a range has: one key, or those from `key` to before `end`. */
export interface RangeOptions {
  readonly end?: string
  readonly limit?: number
  readonly keysOnly?: boolean
}

/** A transaction's answer. Each of `responses` answers one operation of the branch that was taken. */
export interface TxnAnswer {
  readonly revision: number
  readonly succeeded: boolean
  readonly responses: readonly ProtobufReader[]
}

interface StatusAnswer {
  readonly clusterId: string
  readonly version: string
  readonly raftIndex: number
  readonly isLearner: boolean
}

export interface WatchEvent extends KeyValue {
  readonly isDelete: boolean
}

export interface WatchAnswer {
  readonly watchId: number
  readonly revision: number
  readonly isCreated: boolean
  readonly isCanceled: boolean
  /** Whether the revisions that were asked for are no longer kept. */
  readonly isCompacted: boolean
  readonly events: readonly WatchEvent[]
}

/** The fields of a transaction, and those of an operation in it. */
export const TXN = { compare: 1, success: 2, failure: 3 } as const
const OP = { range: 1, put: 2, delete: 3, txn: 4 } as const

/** Writes the comparison that a key has this revision, or is absent (0). */
export function writeIsAt(writer: ProtobufWriter, key: string, modRevision: number): void {
  writeCompare(writer, { key, result: EQUAL, modRevision })
}

/** Writes a comparison that never holds: no key has a negative revision. */
export function writeNever(writer: ProtobufWriter, key: string): void {
  writeCompare(writer, { key, result: LESS, modRevision: 0 })
}

function writeCompare(
  writer: ProtobufWriter,
  { key, result, modRevision }: { key: string; result: number; modRevision: number },
): void {
  const compare = writer.begin(TXN.compare)
  writer.int(1, result).int(2, TARGET_MOD).bytes(3, key).int(6, modRevision)
  writer.end(compare)
}

const EQUAL = 0
const LESS = 2
const TARGET_MOD = 2

/** Writes an operation of a transaction. `branch` is `TXN.success` or `TXN.failure`. */
export function writeRange(
  writer: ProtobufWriter,
  branch: number,
  key: string,
  options: RangeOptions = {},
): void {
  const operation = writer.begin(branch)
  const range = writer.begin(OP.range)
  writeRangeFields(writer, key, options)
  writer.end(range)
  writer.end(operation)
}

function writeRangeFields(
  writer: ProtobufWriter,
  key: string,
  { end, limit = 0, keysOnly = false }: RangeOptions,
): void {
  writer.bytes(1, key)
  if (end !== undefined) writer.bytes(2, end)
  if (limit > 0) writer.int(3, limit)
  if (keysOnly) writer.int(8, 1)
}

export function writePut(writer: ProtobufWriter, key: string, value: Uint8Array): void {
  const operation = writer.begin(TXN.success)
  const put = writer.begin(OP.put)
  writer.bytes(1, key).bytes(2, value)
  writer.end(put)
  writer.end(operation)
}

export function writeDelete(writer: ProtobufWriter, key: string): void {
  const operation = writer.begin(TXN.success)
  const erase = writer.begin(OP.delete)
  writer.bytes(1, key)
  writer.end(erase)
  writer.end(operation)
}

/** Writes a transaction within the transaction; `fields` are its comparisons and operations. */
export function writeTxn(writer: ProtobufWriter, fields: Uint8Array): void {
  const operation = writer.begin(TXN.success)
  writer.bytes(OP.txn, fields)
  writer.end(operation)
}

export function rangeRequest(key: string): Buffer {
  const writer = new ProtobufWriter()
  writeRangeFields(writer, key, {})
  return writer.finish()
}

export function authenticateRequest(user: string, password: string): Buffer {
  return new ProtobufWriter().bytes(1, Buffer.from(user)).bytes(2, Buffer.from(password)).finish()
}

/** Asks for the events of the keys from `key` to before `end` (or of `key` alone) since a revision. */
export function watchRequest(
  watchId: number,
  startRevision: number,
  { key, end }: { readonly key: string; readonly end?: string | undefined },
): Buffer {
  const writer = new ProtobufWriter()
  const create = writer.begin(1)
  writer.bytes(1, key)
  if (end !== undefined) writer.bytes(2, end)
  // 4: the server reports its revision from time to time, also if there are no events.
  writer.int(3, startRevision).int(4, 1).int(7, watchId)
  writer.end(create)
  return writer.finish()
}

export function cancelWatchRequest(watchId: number): Buffer {
  const writer = new ProtobufWriter()
  const cancel = writer.begin(2)
  writer.int(1, watchId)
  writer.end(cancel)
  return writer.finish()
}

export function readTxn(reader: ProtobufReader): TxnAnswer {
  let revision = 0
  let succeeded = false
  const responses: ProtobufReader[] = []
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) revision = readRevision(reader.message())
    else if (field === 2) succeeded = reader.int() === 1
    else if (field === 3) responses.push(responseOf(reader.message()))
  }
  return { revision, succeeded, responses }
}

/** Returns the response within the answer to an operation. */
function responseOf(operation: ProtobufReader): ProtobufReader {
  operation.next()
  return operation.message()
}

export function readRange(reader: ProtobufReader): Range {
  let revision = 0
  let more = false
  const kvs: KeyValue[] = []
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) revision = readRevision(reader.message())
    else if (field === 2) kvs.push(readKeyValue(reader.message()))
    else if (field === 3) more = reader.int() === 1
  }
  return { revision, kvs, more }
}

/** The value is a copy, which does not keep the whole answer in memory. */
function readKeyValue(reader: ProtobufReader): KeyValue {
  let key = ""
  let modRevision = 0
  let value = EMPTY
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) key = reader.text()
    else if (field === 3) modRevision = reader.int()
    else if (field === 5) value = new Uint8Array(reader.bytes())
  }
  return { key, modRevision, value: value === EMPTY ? new Uint8Array(0) : value }
}

const EMPTY = new Uint8Array(0)

/** Reads the header that every answer begins with. */
function readRevision(header: ProtobufReader): number {
  let revision = 0
  for (let field = header.next(); field !== 0; field = header.next()) {
    if (field === 3) revision = header.int()
  }
  return revision
}

function readClusterId(header: ProtobufReader): string {
  let id = ""
  for (let field = header.next(); field !== 0; field = header.next()) {
    if (field === 1) id = header.digits()
  }
  return id
}

export function readToken(reader: ProtobufReader): string {
  let token = ""
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) token = reader.text()
  }
  return token
}

export function readStatus(reader: ProtobufReader): StatusAnswer {
  const status = { clusterId: "", version: "", raftIndex: 0, isLearner: false }
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) status.clusterId = readClusterId(reader.message())
    else if (field === 2) status.version = reader.text()
    else if (field === 5) status.raftIndex = reader.int()
    else if (field === 10) status.isLearner = reader.int() === 1
  }
  return status
}

export function readWatch(reader: ProtobufReader): WatchAnswer {
  const events: WatchEvent[] = []
  const answer = { watchId: 0, revision: 0, isCreated: false, isCanceled: false, isCompacted: false, events }
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) answer.revision = readRevision(reader.message())
    else if (field === 2) answer.watchId = reader.int()
    else if (field === 3) answer.isCreated = reader.int() === 1
    else if (field === 4) answer.isCanceled = reader.int() === 1
    else if (field === 5) answer.isCompacted = reader.int() > 0
    else if (field === 11) events.push(readEvent(reader.message()))
  }
  return answer
}

function readEvent(reader: ProtobufReader): WatchEvent {
  let isDelete = false
  let kv: KeyValue | undefined
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) isDelete = reader.int() === 1
    else if (field === 2) kv = readKeyValue(reader.message())
  }
  if (kv === undefined) throw new Error("an event of etcd has no key")
  return { ...kv, isDelete }
}

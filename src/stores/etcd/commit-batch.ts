import type { Commitment, StoreUnavailableError } from "../../errors/store-errors.js"
import type { Commit, CommitResult, Condition, Entry, Found } from "../../ports/store.js"
import { NOTHING_READ } from "../nothing-read.js"
import {
  readRange,
  readTxn,
  TXN,
  type TxnAnswer,
  writeDelete,
  writeIsAt,
  writeNever,
  writePut,
  writeRange,
  writeTxn,
} from "./messages.js"
import { type ProtobufReader, ProtobufWriter } from "./protobuf.js"
import { entryOf, TYPICAL_BYTES } from "./read-batch.js"
import { Request } from "./request.js"
import type { Batching } from "./request-lane.js"
import type { Epoch } from "./store-history.js"

/**
 * A commit, encoded when it is made: comparisons for its conditions, its writes and reads for the case that
 * they hold, and reads of the keys of its conditions for the case that one does not.
 */
export class CommitRequest extends Request {
  readonly conditions: readonly Condition[]
  readonly writes: Commit["writes"]
  readonly reads: readonly string[]
  readonly epoch: string
  readonly fields: Buffer
  readonly #resolve: (result: CommitResult) => void
  readonly #reject: (error: StoreUnavailableError) => void

  constructor(
    commit: Commit,
    { base, prefix, dueAt }: { readonly base: number; readonly prefix: string; readonly dueAt: number },
    resolve: (result: CommitResult) => void,
    reject: (error: StoreUnavailableError) => void,
  ) {
    super(dueAt)
    this.conditions = commit.conditions
    this.writes = commit.writes
    this.reads = commit.reads ?? NO_KEYS
    this.epoch = commit.epoch
    this.fields = encode(this, { base, prefix })
    this.#resolve = resolve
    this.#reject = reject
  }

  get parts(): number {
    return Math.max(this.conditions.length, this.writes.length + this.reads.length)
  }

  /** What it sends, and what its reads will probably return. */
  get bytes(): number {
    return this.fields.length + this.reads.length * TYPICAL_BYTES
  }

  resolve(result: CommitResult): void {
    if (this.settle()) this.#resolve(result)
  }

  reject(error: StoreUnavailableError): void {
    if (this.settle()) this.#reject(error)
  }
}

/**
 * Commits that travel together. None of them depends on another, so each can be a transaction of its own
 * within one that compares the record of the epoch: each is evaluated by itself, and all of them cost one
 * entry of etcd's log and one flush. They get the same revision, on different keys.
 *
 * A commit that is alone is sent as one transaction, because it may have as many parts as etcd allows.
 */
export class CommitBatching implements Batching<CommitRequest> {
  readonly isRead = false
  readonly #prefix: string
  readonly #recordKey: string

  constructor(prefix: string, recordKey: string) {
    this.#prefix = prefix
    this.#recordKey = recordKey
  }

  commitmentOf({ isSent }: CommitRequest): Commitment {
    return isSent ? "unknown" : "not-committed"
  }

  /** Answers a commit that is for another epoch, and returns whether it is for this one. */
  admits(commit: CommitRequest, epoch: Epoch): boolean {
    if (commit.epoch === epoch.id) return true
    commit.resolve({ kind: "epoch-changed", epoch: epoch.id })
    return false
  }

  encode(commits: readonly CommitRequest[], { recordRevision }: Epoch): Buffer {
    const bytes = commits.reduce((sum, commit) => sum + commit.bytes + OVERHEAD_BYTES, OVERHEAD_BYTES)
    const writer = new ProtobufWriter(bytes)
    const [first] = commits
    if (commits.length === 1 && first !== undefined) writer.raw(first.fields)
    else for (const { fields } of commits) writeTxn(writer, fields)
    writeIsAt(writer, this.#recordKey, recordRevision)
    writeRange(writer, TXN.failure, this.#recordKey)
    return writer.finish()
  }

  settle(commits: readonly CommitRequest[], answer: TxnAnswer, epoch: Epoch): boolean {
    const [first] = commits
    if (commits.length === 1 && first !== undefined) {
      if (!answer.succeeded && !isRecordAt(answer, epoch)) return false
      this.#answer(first, answer, { revision: answer.revision, epoch })
      return true
    }
    if (!answer.succeeded) return false
    for (const [index, commit] of commits.entries()) {
      const inner = readTxn(answer.responses[index] as ProtobufReader)
      this.#answer(commit, inner, { revision: answer.revision, epoch })
    }
    return true
  }

  #answer(
    commit: CommitRequest,
    { succeeded, responses }: TxnAnswer,
    { revision, epoch }: { readonly revision: number; readonly epoch: Epoch },
  ): void {
    if (succeeded) {
      // The responses to the reads follow those to the writes.
      const { length } = commit.writes
      const read =
        commit.reads.length === 0
          ? NOTHING_READ
          : commit.reads.map((_, index) => this.#entryIn(responses[length + index], epoch))
      return commit.resolve({ kind: "committed", revision: revision + epoch.base, read })
    }
    const found: Found[] = []
    for (const [index, condition] of commit.conditions.entries()) {
      const entry = this.#entryIn(responses[index], epoch)
      const holds = condition.kind === "absent" ? entry === undefined : entry?.revision === condition.revision
      if (!holds) found.push({ key: condition.key, entry })
    }
    commit.resolve({ kind: "refused", epoch: epoch.id, found })
  }

  #entryIn(response: ProtobufReader | undefined, { base }: Epoch): Entry | undefined {
    const [kv] = readRange(response as ProtobufReader).kvs
    return kv && entryOf(kv, this.#prefix, base)
  }
}

type Operations = Pick<CommitRequest, "conditions" | "writes" | "reads">

function encode(
  { conditions, writes, reads }: Operations,
  { base, prefix }: { readonly base: number; readonly prefix: string },
): Buffer {
  const writer = new ProtobufWriter(sizeOf({ conditions, writes, reads }, prefix.length))
  for (const condition of conditions) {
    const key = prefix + condition.key
    const modRevision = condition.kind === "absent" ? 0 : condition.revision - base
    // 0 means that a key is absent.
    if (condition.kind === "at" && !(modRevision > 0)) writeNever(writer, key)
    else writeIsAt(writer, key, modRevision)
    writeRange(writer, TXN.failure, key)
  }
  for (const write of writes) {
    if (write.kind === "put") writePut(writer, prefix + write.key, write.value)
    else writeDelete(writer, prefix + write.key)
  }
  for (const key of reads) writeRange(writer, TXN.success, prefix + key)
  return writer.finish()
}

/** The last response of a single commit that was refused is the record of the epoch. */
function isRecordAt({ responses }: TxnAnswer, { recordRevision }: Epoch): boolean {
  const last = responses.at(-1)
  return last !== undefined && readRange(last).kvs[0]?.modRevision === recordRevision
}

function sizeOf({ conditions, writes, reads }: Operations, prefixBytes: number): number {
  let bytes = 0
  for (const { key } of conditions) bytes += 2 * (key.length + prefixBytes + OVERHEAD_BYTES)
  for (const write of writes) {
    bytes += write.key.length + prefixBytes + OVERHEAD_BYTES
    if (write.kind === "put") bytes += write.value.length
  }
  for (const key of reads) bytes += key.length + prefixBytes + OVERHEAD_BYTES
  return bytes
}

const NO_KEYS: readonly string[] = []

/** More than the tags and lengths of an operation take. */
const OVERHEAD_BYTES = 32

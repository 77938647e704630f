import type { Commitment, StoreUnavailableError } from "../../errors/store-errors.js"
import type { Entry } from "../../ports/store.js"
import {
  type KeyValue,
  type RangeOptions,
  readRange,
  TXN,
  type TxnAnswer,
  writeIsAt,
  writeRange,
} from "./messages.js"
import { type ProtobufReader, ProtobufWriter } from "./protobuf.js"
import { Request } from "./request.js"
import type { Batching } from "./request-lane.js"
import type { Epoch } from "./store-history.js"

/** The entries of a range at one moment. Revisions are those that users see. */
export interface RangeResult {
  readonly epoch: string
  readonly revision: number
  readonly entries: readonly Entry[]
  readonly more: boolean
}

/** A read of one key or of a range of keys, with the prefix of the store. */
export class ReadRequest extends Request {
  readonly key: string
  readonly options: RangeOptions
  readonly #resolve: (result: RangeResult) => void
  readonly #reject: (error: StoreUnavailableError) => void

  constructor(
    { key, options, dueAt }: { readonly key: string; readonly options: RangeOptions; readonly dueAt: number },
    resolve: (result: RangeResult) => void,
    reject: (error: StoreUnavailableError) => void,
  ) {
    super(dueAt)
    this.key = key
    this.options = options
    this.#resolve = resolve
    this.#reject = reject
  }

  get parts(): number {
    return 0
  }

  /** What it will probably return. A listing is sent alone. */
  get bytes(): number {
    return this.options.end === undefined ? TYPICAL_BYTES : Number.POSITIVE_INFINITY
  }

  resolve(result: RangeResult): void {
    if (this.settle()) this.#resolve(result)
  }

  reject(error: StoreUnavailableError): void {
    if (this.settle()) this.#reject(error)
  }
}

/**
 * Reads that travel together, in one transaction that compares the record of the epoch. It is linearizable,
 * as every transaction of etcd, and is not part of its log.
 */
export class ReadBatching implements Batching<ReadRequest> {
  readonly isRead = true
  readonly #prefix: string
  readonly #recordKey: string

  constructor(prefix: string, recordKey: string) {
    this.#prefix = prefix
    this.#recordKey = recordKey
  }

  commitmentOf(): Commitment {
    return "not-committed"
  }

  admits(): boolean {
    return true
  }

  encode(reads: readonly ReadRequest[], { recordRevision }: Epoch): Buffer {
    const writer = new ProtobufWriter()
    writeIsAt(writer, this.#recordKey, recordRevision)
    for (const { key, options } of reads) writeRange(writer, TXN.success, key, options)
    return writer.finish()
  }

  settle(reads: readonly ReadRequest[], answer: TxnAnswer, epoch: Epoch): boolean {
    if (!answer.succeeded) return false
    for (const [index, read] of reads.entries()) {
      const { kvs, more } = readRange(answer.responses[index] as ProtobufReader)
      read.resolve({
        epoch: epoch.id,
        revision: answer.revision + epoch.base,
        entries: kvs.map((kv) => entryOf(kv, this.#prefix, epoch.base)),
        more,
      })
    }
    return true
  }
}

/** Returns what users see of a key in etcd. */
export function entryOf({ key, value, modRevision }: KeyValue, prefix: string, base: number): Entry {
  return { key: key.slice(prefix.length), value, revision: modRevision + base }
}

/** What a value probably has: 64 of the largest are in one answer at most. */
export const TYPICAL_BYTES = 8 * 1024

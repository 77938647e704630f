import type { Revision } from "../ports/store.js"
import type { DurableState } from "../registry/durable-state.js"
import { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import { type DurableOwner, rowKey } from "./durable-owner.js"
import { namePart } from "./named-operations.js"
import type { SentOperation } from "./operation.js"
import { type Admission, failed, type Remembered, RUN } from "./recollection.js"

/**
 * What one activation remembers of the messages that other actors have sent with `eventually`: for each
 * sender the number of the last message, in a row that is read once and put with the commit of each message.
 *
 * A sender delivers its messages to one receiver in the order of their numbers, and the next one only when
 * it has the answer to the one before. A number that is not above the last one is therefore a repeat. The
 * numbers of a sender that was destroyed may begin again, and then do so under a higher birth. If the method
 * threw, the row has the error, so that a sender that did not get the answer learns of it all the same.
 *
 * What the method returns is of no use to the sender. The answer to a message is undefined if it was applied,
 * and an array with the error if the method threw: thus the sender cannot take an error of the method for one
 * of the delivery.
 */
export class Inbox {
  readonly #owner: DurableOwner
  readonly #state: DurableState
  /** By sender, in the order in which they were last heard of. */
  readonly #heard = new Map<string, HeardSender>()

  constructor(owner: DurableOwner, state: DurableState) {
    this.#owner = owner
    this.#state = state
  }

  /** Returns how to go on with a message: run it, or answer as it was answered before. */
  admit(operation: SentOperation): Admission | Promise<Admission> {
    const { sender } = operation
    const known = this.#heard.get(sender)
    if (known !== undefined) return this.#compare(operation, known.last)
    const row = this.#rowOf(sender)
    return this.#state.satellites.row(row).then(
      (bytes) => {
        const last = bytes === undefined ? NO_MESSAGE : readRow(bytes)
        this.#heard.set(sender, { key: rowKey(this.#owner, row), last })
        return this.#compare(operation, last)
      },
      (error: unknown) => failed(error),
    )
  }

  /** Remembers that a message was applied. */
  applied({ sender, birth, number }: SentOperation): Remembered {
    return this.#remember(sender, { birth, number, error: undefined })
  }

  /** Remembers what the method of a message threw, encoded. */
  threw({ sender, birth, number }: SentOperation, error: Uint8Array): Remembered {
    return {
      ...this.#remember(sender, { birth, number, error }),
      answer: { given: [this.#state.decodeAnswer(error)] },
    }
  }

  #remember(sender: string, last: LastMessage): Remembered {
    // The key has a digest of the sender, which takes longer than the rest of this.
    const key = this.#heard.get(sender)?.key ?? rowKey(this.#owner, this.#rowOf(sender))
    this.#heard.delete(sender)
    this.#heard.set(sender, { key, last })
    return { writes: [{ kind: "put", key, value: encodeRow(sender, last) }], absent: NONE }
  }

  /** The rows are stored as they are remembered, so the senders of long ago can be read again. */
  allStored(): void {
    if (this.#heard.size <= MOST_SENDERS) return
    for (const sender of this.#heard.keys()) {
      if (this.#heard.size <= MOST_SENDERS / 2) return
      this.#heard.delete(sender)
    }
  }

  #compare({ birth, number }: SentOperation, last: LastMessage): Admission {
    if (birth > last.birth || (birth === last.birth && number > last.number)) return RUN
    const isError = birth === last.birth && number === last.number && last.error !== undefined
    return {
      kind: "answer",
      given: isError ? [this.#state.decodeAnswer(last.error as Uint8Array)] : undefined,
    }
  }

  #rowOf(sender: string): string {
    return `${INBOX}${namePart(this.#owner, sender)}`
  }
}

/** The prefix of the rows of all senders. */
export const INBOX = "i/"

interface HeardSender {
  /** The key of its row. */
  readonly key: string
  readonly last: LastMessage
}

/** The last message of a sender. */
interface LastMessage {
  /** The generation under which the sender's numbers began. */
  readonly birth: Revision
  readonly number: number
  /** What its method threw, encoded; undefined if it was applied. */
  readonly error: Uint8Array | undefined
}

const NONE: readonly never[] = []
const NO_MESSAGE: LastMessage = { birth: 0, number: 0, error: undefined }
const MOST_SENDERS = 10_000
const APPLIED = 1
const THREW = 2
/** Rows of senders whose numbers have begun under a generation; earlier versions cannot read them. */
const APPLIED_OF_BIRTH = 3
const THREW_OF_BIRTH = 4

/** What a row says of its sender. */
export function lastHeard(row: Uint8Array): { readonly sender: string; readonly number: number } {
  return readRow(row)
}

function encodeRow(sender: string, { birth, number, error }: LastMessage): Uint8Array {
  const out = new OutputBuffer(64 + (error?.length ?? 0))
  const isOfBirth = birth > 0
  if (error === undefined) out.u8(isOfBirth ? APPLIED_OF_BIRTH : APPLIED)
  else out.u8(isOfBirth ? THREW_OF_BIRTH : THREW)
  out.varint(number)
  if (isOfBirth) out.varint(birth)
  out.text(sender)
  if (error !== undefined) out.raw(error)
  return out.bytes.subarray(0, out.at)
}

function readRow(row: Uint8Array): LastMessage & { readonly sender: string } {
  const input = new InputBytes(Buffer.from(row.buffer, row.byteOffset, row.byteLength), 0, row.length)
  const kind = input.u8()
  const number = input.varint()
  const birth = kind === APPLIED_OF_BIRTH || kind === THREW_OF_BIRTH ? input.varint() : 0
  const sender = input.text()
  const isError = kind === THREW || kind === THREW_OF_BIRTH
  return { birth, number, sender, error: isError ? input.raw(input.left) : undefined }
}

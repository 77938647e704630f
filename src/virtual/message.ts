import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"

/** A message that an actor sends with `eventually`, as its row in the store has it. */
export interface Message {
  /** Its number among all messages of its sender, from 1. */
  readonly number: number
  readonly type: string
  readonly key: string
  readonly method: string
  /** The encoded arguments. */
  readonly args: Uint8Array
}

/** A message that has no number yet. */
export type NewMessage = Omit<Message, "number">

/** The name of the row of a message, among the satellites of its sender. Rows are in the order of numbers. */
export function messageRow(number: number): string {
  return `${MESSAGES}${String(number).padStart(16, "0")}`
}

/** The prefix of all rows of messages. */
export const MESSAGES = "x/"

export function encodeMessage({ type, key, method, args }: NewMessage): Uint8Array {
  const out = new OutputBuffer(64 + args.length)
  out.u8(FORMAT)
  out.text(type)
  out.text(key)
  out.text(method)
  out.raw(args)
  return out.bytes.subarray(0, out.at)
}

/** Throws a `MalformedBytesError` for bytes that are no message. */
export function decodeMessage(row: string, bytes: Uint8Array): Message {
  const input = new InputBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length)
  if (input.u8() !== FORMAT) throw new MalformedBytesError(`the message ${row} has an unknown format`)
  return {
    number: Number(row.slice(MESSAGES.length)),
    type: input.text(),
    key: input.text(),
    method: input.text(),
    args: input.raw(input.left),
  }
}

const FORMAT = 1

import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"

/** The state of an actor as it is in the store. */
export interface StoredState {
  /** The id of the save that wrote it, so that a save whose answer was lost can be recognized. */
  readonly writeId: string
  /** The version of the state, as its type counts them. */
  readonly version: number
  /** The name of the codec that encoded the value. */
  readonly codec: string
  readonly value: Uint8Array
}

/** Encodes a state whose value is written by `append`. */
export function encodeState(
  head: Omit<StoredState, "value">,
  append: (out: OutputBuffer) => void,
): { readonly bytes: Uint8Array; readonly valueBytes: number } {
  const out = scratch ?? new OutputBuffer(SCRATCH_BYTES)
  // A getter of the value may save the state of another actor.
  scratch = undefined
  out.at = 0
  out.u8(FORMAT)
  out.text(head.writeId)
  out.varint(head.version)
  out.text(head.codec)
  const start = out.at
  append(out)
  const valueBytes = out.at - start
  if (out.bytes.length > SCRATCH_BYTES) return { bytes: out.bytes.subarray(0, out.at), valueBytes }
  scratch = out
  const bytes = Buffer.allocUnsafe(out.at)
  out.bytes.copy(bytes, 0, 0, out.at)
  return { bytes, valueBytes }
}

/** A buffer for small states, which are copied from it: a small buffer of their own would take longer. */
let scratch: OutputBuffer | undefined
const SCRATCH_BYTES = 1_024

/** Throws a `MalformedBytesError` for bytes that are no state. */
export function decodeState(bytes: Uint8Array): StoredState {
  const input = new InputBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length)
  const format = input.u8()
  if (format !== FORMAT) throw new MalformedBytesError(`format must be ${FORMAT} (got ${format})`)
  const writeId = input.text()
  const version = input.varint()
  const codec = input.text()
  return { writeId, version, codec, value: input.raw(input.left) }
}

const FORMAT = 1

import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"

/**
 * The state of an actor as it is in the store: a head, and the value, which may be in a chunk of its own.
 *
 * A head of format 1 has neither a memory nor a chunk, and nodes of the first version can read it.
 */
export interface StoredState extends StateHead {
  /** Empty if the value is in a chunk. */
  readonly value: Uint8Array
}

export interface StateHead {
  /** The id of the save that wrote it, so that a save whose answer was lost can be recognized. */
  readonly writeId: string
  /** The version of the state, as its type counts them. */
  readonly version: number
  /** The name of the codec that encoded the value. */
  readonly codec: string
  /** What the actor remembers of operations; undefined if it remembers none. */
  readonly memory?: Uint8Array | undefined
  /** The number of the chunk that the value is in; undefined if it follows the head. */
  readonly chunk?: number | undefined
}

/** The latest format that this version reads. */
export const STATE_FORMAT = 2

/** Encodes a state whose value is written by `append`. */
export function encodeState(
  head: StateHead,
  append: (out: OutputBuffer) => void,
): { readonly bytes: Uint8Array; readonly valueBytes: number } {
  const out = scratch ?? new OutputBuffer(SCRATCH_BYTES)
  // A getter of the value may save the state of another actor.
  scratch = undefined
  out.at = 0
  const { memory, chunk } = head
  const format = memory === undefined && chunk === undefined ? 1 : STATE_FORMAT
  out.u8(format)
  out.text(head.writeId)
  out.varint(head.version)
  out.text(head.codec)
  if (format > 1) {
    out.varint(chunk === undefined ? 0 : chunk + 1)
    out.varint(memory?.length ?? 0)
    if (memory !== undefined) out.raw(memory)
  }
  const start = out.at
  append(out)
  const valueBytes = out.at - start
  if (out.bytes.length > SCRATCH_BYTES) return { bytes: out.bytes.subarray(0, out.at), valueBytes }
  scratch = out
  return { bytes: out.copied(), valueBytes }
}

/** A buffer for small states, which are copied from it: a small buffer of their own would take longer. */
let scratch: OutputBuffer | undefined
const SCRATCH_BYTES = 1_024

/** Throws a `MalformedBytesError` for bytes that are no state. */
export function decodeState(bytes: Uint8Array): StoredState {
  const input = new InputBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length)
  const format = input.u8()
  if (format !== 1 && format !== STATE_FORMAT) {
    throw new MalformedBytesError(`format must be 1 or ${STATE_FORMAT} (got ${format})`)
  }
  const writeId = input.text()
  const version = input.varint()
  const codec = input.text()
  if (format === 1) return { writeId, version, codec, value: input.raw(input.left) }
  const chunk = input.varint()
  const memory = input.raw(input.varint())
  return {
    writeId,
    version,
    codec,
    memory: memory.length === 0 ? undefined : memory,
    chunk: chunk === 0 ? undefined : chunk - 1,
    value: input.raw(input.left),
  }
}

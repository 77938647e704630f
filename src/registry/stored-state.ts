import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"

/** What stands in the store for an actor's state. */
export interface StoredState {
  /** Which save wrote it, so that one whose answer was lost can be told from others. */
  readonly writeId: string
  /** That of the actor's state, as its type counts them. */
  readonly version: number
  /** The codec that the value is written with. */
  readonly codec: string
  readonly value: Uint8Array
}

/** `append` writes the value. */
export function encodeState(
  head: Omit<StoredState, "value">,
  append: (out: OutputBuffer) => void,
): { readonly bytes: Uint8Array; readonly valueBytes: number } {
  const out = new OutputBuffer(256)
  out.u8(FORMAT)
  out.text(head.writeId)
  out.varint(head.version)
  out.text(head.codec)
  const start = out.at
  append(out)
  return { bytes: out.bytes.subarray(0, out.at), valueBytes: out.at - start }
}

/** Throws a `MalformedBytesError`. */
export function decodeState(bytes: Uint8Array): StoredState {
  const input = new InputBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length)
  const format = input.u8()
  if (format !== FORMAT)
    throw new MalformedBytesError(`it has the format ${format}; this version reads ${FORMAT}`)
  const writeId = input.text()
  const version = input.varint()
  const codec = input.text()
  return { writeId, version, codec, value: input.raw(input.left) }
}

const FORMAT = 1

import { BATCH_HEADER_BYTES, FRAME_HEADER_BYTES, HELLO, MAX_HANDSHAKE_BYTES } from "../src/remote/frames.js"

/**
 * Who dials, by the first bytes of a connection: `host:port` of the node that it says it is, as
 * `docs/wire.md` has it. `undefined` while there are too few of them; `stranger` for what is no node.
 */
export function diallerOf(bytes: Buffer): string | "stranger" | undefined {
  if (bytes.length < BATCH_HEADER_BYTES) return undefined
  const bodyBytes = bytes.readUInt32LE(0)
  if (bodyBytes > MAX_HANDSHAKE_BYTES) return "stranger"
  if (bytes.length < BATCH_HEADER_BYTES + bodyBytes) return undefined
  const frame = bytes.subarray(BATCH_HEADER_BYTES, BATCH_HEADER_BYTES + bodyBytes)
  if (frame.length < FRAME_HEADER_BYTES || frame[4] !== HELLO) return "stranger"
  const fields = frame.subarray(FRAME_HEADER_BYTES)
  // After the magic and the version.
  return textAt(fields, 5)?.text.split("#")[0] ?? "stranger"
}

interface Text {
  readonly text: string
  readonly end: number
}

/** Of Latin-1: names of nodes have no other characters. */
function textAt(bytes: Buffer, at: number): Text | undefined {
  const tag = bytes[at]
  if (tag === undefined) return undefined
  if ((tag & 0xe0) === 0x80) return latin1(bytes, at + 1, tag & 0x1f)
  const length = bytes[at + 1]
  // Longer ones take more than a byte for their length, and no name here is.
  return tag === 0xcd && length !== undefined && length < 0x80 ? latin1(bytes, at + 2, length) : undefined
}

function latin1(bytes: Buffer, at: number, length: number): Text | undefined {
  const end = at + length
  return end > bytes.length ? undefined : { text: bytes.toString("latin1", at, end), end }
}

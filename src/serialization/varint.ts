import type { ByteSink } from "../ports/codec.js"

/** Writes seven bits per byte, lowest first; all bytes but the last have their high bit set. */
export function writeVarint(out: ByteSink, value: number): void {
  out.reserve(varintBytes(value))
  out.at = putVarint(out.bytes, out.at, value)
}

/** Writes into bytes that have room. Returns the offset of the next byte. */
export function putVarint(bytes: Uint8Array, at: number, value: number): number {
  let rest = value
  while (rest > 0x7fff_ffff) {
    bytes[at++] = (rest % 0x80) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  while (rest > 0x7f) {
    bytes[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  bytes[at++] = rest
  return at
}

export function varintBytes(value: number): number {
  let count = 1
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 0x80)) count += 1
  return count
}

/**
 * The longest varint that is accepted: eight times seven bits are more than the 53 of a safe integer.
 */
export const MOST_VARINT_BYTES = 8

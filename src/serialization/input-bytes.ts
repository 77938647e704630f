import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { SHORT_ARRAY, SHORT_TEXT, TEXT, WIDE_TEXT } from "./tags.js"
import { latin1Text, wideText } from "./text.js"
import { MOST_VARINT_BYTES } from "./varint.js"

/**
 * Reads a part of a buffer, never past its end: every method throws a `MalformedBytesError` there.
 */
export class InputBytes {
  bytes: Buffer
  at: number
  end: number

  constructor(bytes: Buffer, start: number, end: number) {
    this.bytes = bytes
    this.at = start
    this.end = end
  }

  reset(bytes: Buffer, start: number, end: number): void {
    this.bytes = bytes
    this.at = start
    this.end = end
  }

  get left(): number {
    return this.end - this.at
  }

  u8(): number {
    const at = this.at
    if (at >= this.end) throw cutOff()
    this.at = at + 1
    return this.bytes[at] as number
  }

  u16(): number {
    const at = this.skip(2)
    return (this.bytes[at] as number) | ((this.bytes[at + 1] as number) << 8)
  }

  u32(): number {
    const at = this.skip(4)
    const bytes = this.bytes
    const high = bytes[at + 3] as number
    const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16)
    return high * 0x100_0000 + low
  }

  f64(): number {
    return this.bytes.readDoubleLE(this.skip(8))
  }

  varint(): number {
    const first = this.u8()
    return first < 0x80 ? first : this.#longVarint(first)
  }

  text(maxBytes: number = Number.POSITIVE_INFINITY): string {
    const tag = this.u8()
    if (tag >= SHORT_TEXT && tag < SHORT_ARRAY) return this.latin1(tag - SHORT_TEXT, maxBytes)
    if (tag === TEXT) return this.latin1(this.varint(), maxBytes)
    if (tag === WIDE_TEXT) return this.wide(this.varint(), maxBytes)
    throw new MalformedBytesError(`unknown tag ${tag} of a string`)
  }

  /** Reads a one-byte string whose tag and length have been read. */
  latin1(length: number, maxBytes: number = Number.POSITIVE_INFINITY): string {
    if (length > maxBytes) throw tooLong(length, maxBytes)
    return latin1Text(this.bytes, this.skip(length), length)
  }

  /** Reads a two-byte string whose tag and length in bytes have been read. */
  wide(byteLength: number, maxBytes: number = Number.POSITIVE_INFINITY): string {
    if (byteLength > maxBytes) throw tooLong(byteLength, maxBytes)
    if (byteLength % 2 !== 0) throw new MalformedBytesError("a string of two-byte units has an odd length")
    return wideText(this.bytes, this.skip(byteLength), byteLength)
  }

  /** Returns a view, which changes when the buffer is reused. */
  raw(count: number): Buffer {
    const at = this.skip(count)
    return this.bytes.subarray(at, at + count)
  }

  /** Skips bytes, and returns where they begin. */
  skip(count: number): number {
    const at = this.at
    if (count > this.end - at) throw cutOff()
    this.at = at + count
    return at
  }

  /** Accepts only the shortest form of a varint, which does not end in a zero byte. */
  #longVarint(first: number): number {
    let value = first & 0x7f
    let factor = 0x80
    for (let read = 1; read < MOST_VARINT_BYTES; read += 1) {
      const byte = this.u8()
      value += (byte & 0x7f) * factor
      factor *= 0x80
      if (byte >= 0x80) continue
      if (byte === 0 || value > Number.MAX_SAFE_INTEGER) break
      return value
    }
    throw new MalformedBytesError("a varint must be in its shortest form and below 2^53")
  }
}

function cutOff(): MalformedBytesError {
  return new MalformedBytesError("unexpected end of the bytes within a value")
}

function tooLong(length: number, maxBytes: number): MalformedBytesError {
  return new MalformedBytesError(`a string must have at most ${maxBytes} bytes (got ${length})`)
}

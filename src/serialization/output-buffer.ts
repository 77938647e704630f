import { InvalidMessageError } from "../errors/call-errors.js"
import type { ByteSink } from "../ports/codec.js"
import { writeText } from "./text.js"
import { writeVarint } from "./varint.js"

/**
 * Writes bytes to a buffer that doubles when it is full.
 *
 * A message that is too large is refused while it is written: `limitAt` is the latest end of the current
 * message.
 */
export class OutputBuffer implements ByteSink {
  bytes: Buffer
  at = 0
  /** No byte may be written at or beyond this offset. */
  limitAt: number = Number.POSITIVE_INFINITY
  /** The limit in the settings, for the error message. */
  maxBytes: number = Number.POSITIVE_INFINITY

  constructor(initialBytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(initialBytes)
  }

  reserve(count: number): void {
    const end = this.at + count
    if (end > this.bytes.length || end > this.limitAt) this.#grow(end)
  }

  u8(value: number): void {
    this.reserve(1)
    this.bytes[this.at++] = value
  }

  u32(value: number): void {
    this.reserve(4)
    const { bytes, at } = this
    bytes[at] = value
    bytes[at + 1] = value >>> 8
    bytes[at + 2] = value >>> 16
    bytes[at + 3] = value >>> 24
    this.at = at + 4
  }

  /** Writes an integer from 0 to `Number.MAX_SAFE_INTEGER`. */
  varint(value: number): void {
    writeVarint(this, value)
  }

  text(value: string): void {
    writeText(this, value)
  }

  raw(value: Uint8Array): void {
    this.reserve(value.length)
    this.bytes.set(value, this.at)
    this.at += value.length
  }

  /** What was written, in bytes of its own. Native copies make a view of the source first. */
  copied(): Buffer {
    const { at, bytes } = this
    const copy = Buffer.allocUnsafe(at)
    if (at > MOST_COPIED_BY_LOOP) bytes.copy(copy, 0, 0, at)
    else for (let index = 0; index < at; index += 1) copy[index] = bytes[index] as number
    return copy
  }

  #grow(end: number): void {
    if (end > this.limitAt) {
      throw new InvalidMessageError(`message is larger than maxMessageBytes (${this.maxBytes} bytes)`)
    }
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, end))
    larger.set(this.bytes)
    this.bytes = larger
  }
}

/** A view costs as much as a loop over some hundred bytes. */
const MOST_COPIED_BY_LOOP = 256

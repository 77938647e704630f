import { InvalidMessageError } from "../errors/call-errors.js"
import type { Digest } from "../ports/digest.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import { BATCH_HEADER_BYTES, FRAME_HEADER_BYTES, headerCheck } from "./frames.js"

/**
 * Puts frames together to batches. What was taken is not written to again: the network keeps the bytes until
 * they are sent. So one large buffer is used from front to back, and replaced when it comes to its end.
 */
export class BatchWriter extends OutputBuffer {
  readonly #digest: Digest
  #start = 0
  #isOpen = false

  constructor(digest: Digest) {
    super(FIRST_SLAB_BYTES)
    this.#digest = digest
    this.at = BATCH_HEADER_BYTES
  }

  /** Bytes of the batch so far. */
  get size(): number {
    return this.at - this.#start - BATCH_HEADER_BYTES
  }

  /** Whether a frame has begun and not ended: user code that runs while it is encoded can send nothing. */
  get hasOpenFrame(): boolean {
    return this.#isOpen
  }

  /**
   * Begins a frame. What it gives is for `close` or `takeBack`. Code of the user's may run while one is open,
   * and may not open another.
   */
  open(kind: number): number {
    if (this.#isOpen) throw new InvalidMessageError("it was sent from inside of another that was being sent")
    this.#isOpen = true
    this.reserve(FRAME_HEADER_BYTES)
    const frame = this.at - this.#start
    this.bytes[this.at + 4] = kind
    this.at += FRAME_HEADER_BYTES
    return frame
  }

  close(frame: number): void {
    this.#isOpen = false
    this.limitAt = Number.POSITIVE_INFINITY
    const at = this.#start + frame
    this.bytes.writeUInt32LE(this.at - at - 4, at)
  }

  takeBack(frame: number): void {
    this.#isOpen = false
    this.limitAt = Number.POSITIVE_INFINITY
    this.at = this.#start + frame
  }

  /** A frame with no fields but these bytes. */
  frame(kind: number, fields?: Uint8Array): void {
    const frame = this.open(kind)
    if (fields !== undefined) this.raw(fields)
    this.close(frame)
  }

  /** The batch, as it goes to the network. */
  take(): Buffer {
    const start = this.#start
    const { bytes, at } = this
    const body = start + BATCH_HEADER_BYTES
    const crc32 = this.#digest.crc32(bytes, body, at)
    bytes.writeUInt32LE(at - body, start)
    bytes.writeUInt32LE(crc32, start + 4)
    bytes.writeUInt32LE(headerCheck(at - body, crc32), start + 8)
    if (bytes.length - at >= LEAST_LEFT_BYTES) this.#start = at
    else {
      this.bytes = Buffer.allocUnsafeSlow(SLAB_BYTES)
      this.#start = 0
    }
    this.at = this.#start + BATCH_HEADER_BYTES
    return bytes.subarray(start, at)
  }

  override reserve(count: number): void {
    const end = this.at + count
    if (end > this.limitAt) {
      throw new InvalidMessageError(
        `the message is larger than the ${this.maxBytes} bytes that may be sent (setting maxMessageBytes)`,
      )
    }
    if (end > this.bytes.length) this.#moveOn(end)
  }

  #moveOn(end: number): void {
    const start = this.#start
    const larger = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, 2 * (end - start)))
    this.bytes.copy(larger, 0, start, this.at)
    this.bytes = larger
    this.at -= start
    this.limitAt -= start
    this.#start = 0
  }
}

/** Enough for a handshake: whoever connects has not proven anything yet. */
const FIRST_SLAB_BYTES = 8 * 1024
const SLAB_BYTES = 128 * 1024
const LEAST_LEFT_BYTES = 4 * 1024

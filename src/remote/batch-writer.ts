import { InvalidMessageError } from "../errors/call-errors.js"
import type { Digest } from "../ports/digest.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import { BATCH_HEADER_BYTES, FRAME_HEADER_BYTES, headerCheck } from "./frames.js"

/**
 * Assembles frames into batches. Bytes of a batch that was taken are never overwritten, since the network
 * keeps them until they are sent. So one large buffer is filled from front to back, and replaced when full.
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

  /** Whether a frame is open. User code that runs while it is encoded cannot send. */
  get hasOpenFrame(): boolean {
    return this.#isOpen
  }

  /**
   * Begins a frame, and returns its offset for `close` or `takeBack`. User code that runs while a frame is
   * open may not open another.
   */
  open(kind: number): number {
    if (this.#isOpen) throw new InvalidMessageError("cannot send a message while another is being encoded")
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

  /** Writes a frame whose fields are these bytes. */
  frame(kind: number, fields?: Uint8Array): void {
    const frame = this.open(kind)
    if (fields !== undefined) this.raw(fields)
    this.close(frame)
  }

  /** Completes the batch and returns its bytes. */
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
      throw new InvalidMessageError(`message is larger than maxMessageBytes (${this.maxBytes} bytes)`)
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

/** Enough for a handshake, while the peer is unproven. */
const FIRST_SLAB_BYTES = 8 * 1024
const SLAB_BYTES = 128 * 1024
const LEAST_LEFT_BYTES = 4 * 1024

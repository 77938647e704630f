import type { Digest } from "../ports/digest.js"
import { BATCH_HEADER_BYTES, headerCheck } from "./frames.js"

/**
 * Finds the batches in a stream of bytes: a decision that takes chunks and gives out the complete, verified
 * bodies.
 *
 * Most batches lie within one chunk and are read in place. A batch that spans chunks is assembled in a buffer
 * that grows with the bytes received, never with the announced length: a peer that announces a megabyte and
 * sends ten bytes costs ten bytes.
 */
export class BatchReader {
  readonly #digest: Digest
  /** The longest body that is accepted. */
  maxBodyBytes: number
  #held: Buffer = NOTHING
  #heldBytes = 0
  /** Unread chunks, kept because `take` returned false; the first is read from `laterAt`. */
  #later: Buffer[] = []
  #laterAt = 0

  constructor(digest: Digest, maxBodyBytes: number) {
    this.#digest = digest
    this.maxBodyBytes = maxBodyBytes
  }

  /** The total size of the incomplete batch; 0 if there is none. */
  get announced(): number {
    return this.#heldBytes === 0 ? 0 : this.#needed()
  }

  /**
   * Passes each complete body to `take` until it returns false; the rest waits for `resume`. Returns what is
   * wrong with the stream; nothing may be pushed after that.
   */
  push(chunk: Buffer, take: TakeBody): StreamProblem | undefined {
    if (this.#later.length === 0) return this.#read(chunk, 0, take)
    this.#later.push(chunk)
    return undefined
  }

  /** Reads the chunks that were kept, in the same way. */
  resume(take: TakeBody): StreamProblem | undefined {
    const chunks = this.#later
    this.#later = []
    for (const [index, chunk] of chunks.entries()) {
      const problem = this.#read(chunk, index === 0 ? this.#laterAt : 0, take)
      if (problem !== undefined) return problem
      if (this.#later.length > 0) {
        this.#later.push(...chunks.slice(index + 1))
        return undefined
      }
    }
    return undefined
  }

  #read(chunk: Buffer, from: number, take: TakeBody): StreamProblem | undefined {
    let at = from
    if (this.#heldBytes > 0) {
      at = this.#hold(chunk, at)
      if (this.#heldBytes < BATCH_HEADER_BYTES) return undefined
      const problem = this.#headerProblem(this.#held, 0)
      if (problem !== undefined) return problem
      if (this.#heldBytes < this.#needed()) return undefined
      const held = this.#held
      const end = this.#heldBytes
      this.#held = NOTHING
      this.#heldBytes = 0
      if (!this.#isWhole(held, 0, end)) return "corrupted"
      if (!take(held, BATCH_HEADER_BYTES, end)) return this.#setAside(chunk, at)
    }
    while (chunk.length - at >= BATCH_HEADER_BYTES) {
      const problem = this.#headerProblem(chunk, at)
      if (problem !== undefined) return problem
      const end = at + BATCH_HEADER_BYTES + chunk.readUInt32LE(at)
      if (end > chunk.length) break
      if (!this.#isWhole(chunk, at, end)) return "corrupted"
      if (!take(chunk, at + BATCH_HEADER_BYTES, end)) return this.#setAside(chunk, end)
      at = end
    }
    if (at < chunk.length) this.#hold(chunk, at)
    return undefined
  }

  #setAside(chunk: Buffer, at: number): undefined {
    if (at === chunk.length) return
    this.#later.push(chunk)
    this.#laterAt = at
  }

  #headerProblem(bytes: Buffer, at: number): StreamProblem | undefined {
    const length = bytes.readUInt32LE(at)
    if (bytes.readUInt32LE(at + 8) !== headerCheck(length, bytes.readUInt32LE(at + 4))) return "corrupted"
    return length > this.maxBodyBytes ? "too-long" : undefined
  }

  /** The size of the header until it is complete, then the size of the batch. */
  #needed(): number {
    if (this.#heldBytes < BATCH_HEADER_BYTES) return BATCH_HEADER_BYTES
    return BATCH_HEADER_BYTES + this.#held.readUInt32LE(0)
  }

  /** Copies from the chunk what the batch still lacks. Returns where the rest of the chunk begins. */
  #hold(chunk: Buffer, from: number): number {
    let at = from
    while (at < chunk.length && this.#heldBytes < this.#needed()) {
      const needed = this.#needed()
      // The caller reports it.
      if (needed - BATCH_HEADER_BYTES > this.maxBodyBytes) return at
      const count = Math.min(chunk.length - at, needed - this.#heldBytes)
      this.#makeRoom(this.#heldBytes + count, needed)
      chunk.copy(this.#held, this.#heldBytes, at, at + count)
      this.#heldBytes += count
      at += count
    }
    return at
  }

  #makeRoom(bytes: number, needed: number): void {
    if (bytes <= this.#held.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(bytes, Math.min(needed, this.#held.length * 2)))
    this.#held.copy(larger, 0, 0, this.#heldBytes)
    this.#held = larger
  }

  #isWhole(bytes: Buffer, start: number, end: number): boolean {
    return bytes.readUInt32LE(start + 4) === this.#digest.crc32(bytes, start + BATCH_HEADER_BYTES, end)
  }
}

/** Handles the body from `start` to `end`; returns false to pause reading. */
type TakeBody = (bytes: Buffer, start: number, end: number) => boolean

export type StreamProblem = "too-long" | "corrupted"

const NOTHING = Buffer.alloc(0)

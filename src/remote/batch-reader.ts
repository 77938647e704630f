import type { Digest } from "../ports/digest.js"
import { BATCH_HEADER_BYTES, headerCheck } from "./frames.js"

/**
 * Finds the batches in a stream of bytes: a decision, chunks in, whole and unharmed bodies out.
 *
 * A batch that lies within one chunk, as most do, is read where it is. One that is cut by the end of a chunk
 * is put together in a buffer that grows with what has come, never with what was announced: a peer that
 * announces a megabyte and sends ten bytes costs ten bytes.
 */
export class BatchReader {
  readonly #digest: Digest
  /** The longest body that is accepted. */
  maxBodyBytes: number
  #held: Buffer = NOTHING
  #heldBytes = 0
  /** Chunks that are not read yet, because `take` said not to go on; the first from `laterAt` on. */
  #later: Buffer[] = []
  #laterAt = 0

  constructor(digest: Digest, maxBodyBytes: number) {
    this.#digest = digest
    this.maxBodyBytes = maxBodyBytes
  }

  /** How many bytes the batch will have that has begun and is not whole; 0 if none has. */
  get announced(): number {
    return this.#heldBytes === 0 ? 0 : this.#needed()
  }

  /**
   * Hands out the bodies that are whole by now, until `take` says not to go on; the rest waits for `goOn`.
   * What is wrong with the stream is returned; after that nothing more is to be pushed.
   */
  push(chunk: Buffer, take: TakeBody): StreamProblem | undefined {
    if (this.#later.length === 0) return this.#read(chunk, 0, take)
    this.#later.push(chunk)
    return undefined
  }

  /** Hands out what waited, in the same way. */
  goOn(take: TakeBody): StreamProblem | undefined {
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

  /** The header's bytes first; once they are there, what they say. */
  #needed(): number {
    if (this.#heldBytes < BATCH_HEADER_BYTES) return BATCH_HEADER_BYTES
    return BATCH_HEADER_BYTES + this.#held.readUInt32LE(0)
  }

  /** Takes from the chunk what the batch still lacks. Says where the rest of the chunk begins. */
  #hold(chunk: Buffer, from: number): number {
    let at = from
    while (at < chunk.length && this.#heldBytes < this.#needed()) {
      const needed = this.#needed()
      // Seen to by whoever called.
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

/** What the bytes from `start` to `end` say; false holds the reading. */
type TakeBody = (bytes: Buffer, start: number, end: number) => boolean

export type StreamProblem = "too-long" | "corrupted"

const NOTHING = Buffer.alloc(0)

/** A value as bytes on a stream: how long its text is, in four bytes, and the text, which is JSON. */
export function frame(value: unknown): Uint8Array {
  const text = Buffer.from(JSON.stringify(value))
  const bytes = Buffer.alloc(HEAD_BYTES + text.length)
  bytes.writeUInt32BE(text.length, 0)
  text.copy(bytes, HEAD_BYTES)
  return bytes
}

/** Puts together again what a stream cut up. */
export class FrameReader {
  #held = Buffer.alloc(0)

  /** The values that are whole with this chunk. */
  take(chunk: Uint8Array): unknown[] {
    this.#held = Buffer.concat([this.#held, chunk])
    const values: unknown[] = []
    while (this.#held.length >= HEAD_BYTES) {
      const length = this.#held.readUInt32BE(0)
      if (length > MAX_FRAME_BYTES) throw new RangeError(`a frame of ${length} bytes`)
      const end = HEAD_BYTES + length
      if (this.#held.length < end) break
      values.push(JSON.parse(this.#held.toString("utf8", HEAD_BYTES, end)))
      this.#held = this.#held.subarray(end)
    }
    return values
  }
}

const HEAD_BYTES = 4
const MAX_FRAME_BYTES = 64 * 1024

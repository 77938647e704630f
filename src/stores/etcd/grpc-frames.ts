/**
 * gRPC's framing: each message follows a byte that says whether it is compressed, and its length in four
 * bytes. Nothing is compressed here, since the client does not say that it can decompress.
 */
export function frame(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + message.length)
  bytes[0] = 0
  bytes.writeUInt32BE(message.length, 1)
  bytes.set(message, HEAD_BYTES)
  return bytes
}

/** Takes the bytes of a stream as they arrive, and returns the messages that are complete. */
export class FrameReader {
  #chunks: Buffer[] = []
  #bytes = 0
  /** How many bytes have to be there before the next message can be taken. */
  #needed = HEAD_BYTES

  push(chunk: Buffer): readonly Buffer[] {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes < this.#needed) return []
    let rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#bytes)
    const messages: Buffer[] = []
    for (;;) {
      if (rest.length < HEAD_BYTES) {
        this.#needed = HEAD_BYTES
        break
      }
      if (rest[0] !== 0) throw new Error("a gRPC message is compressed, though that was not asked for")
      const end = HEAD_BYTES + rest.readUInt32BE(1)
      if (end > MAX_FRAME_BYTES) throw new Error(`a gRPC message has ${end} bytes, which is too many`)
      if (rest.length < end) {
        this.#needed = end
        break
      }
      messages.push(rest.subarray(HEAD_BYTES, end))
      rest = rest.subarray(end)
    }
    this.#chunks = rest.length === 0 ? [] : [rest]
    this.#bytes = rest.length
    return messages
  }
}

const HEAD_BYTES = 5

/** A refused commit returns the values of all its conditions, of which 127 may have 1 MiB each. */
const MAX_FRAME_BYTES = 256 * 1024 * 1024

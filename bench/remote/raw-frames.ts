/**
 * The least that a conversation over TCP can be made of: frames of a length, a number and a body, all of one
 * turn of the event loop written at once. No routing, no codec, no checks.
 */
import type { Duplex } from "node:stream"

/** What is put in frames from now on leaves together, when the event loop has gone round. */
export function frameWriter(socket: Duplex): (id: number, body: Uint8Array) => void {
  let frames: Buffer[] = []
  const flush = () => {
    const [first, second] = frames
    if (first !== undefined) socket.write(second === undefined ? first : Buffer.concat(frames))
    frames = []
  }
  return (id, body) => {
    if (frames.length === 0) setImmediate(flush)
    frames.push(frame(id, body))
  }
}

export function readFrames(socket: Duplex, take: (id: number, body: Buffer) => void): void {
  let rest: Buffer | undefined
  socket.on("data", (chunk: Buffer) => {
    const bytes = rest === undefined ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    while (bytes.length - at >= HEADER_BYTES) {
      const end = at + HEADER_BYTES + bytes.readUInt32LE(at)
      if (end > bytes.length) break
      take(bytes.readUInt32LE(at + 4), bytes.subarray(at + HEADER_BYTES, end))
      at = end
    }
    rest = at < bytes.length ? bytes.subarray(at) : undefined
  })
}

function frame(id: number, body: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + body.length)
  bytes.writeUInt32LE(body.length, 0)
  bytes.writeUInt32LE(id, 4)
  bytes.set(body, HEADER_BYTES)
  return bytes
}

const HEADER_BYTES = 8

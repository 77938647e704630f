import fc from "fast-check"
import { expect, it } from "vitest"
import { FrameReader, frame } from "./grpc-frames.js"

it("returns the messages of a stream, wherever its chunks end", () => {
  const messages = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 })
  fc.assert(
    fc.property(messages, fc.integer({ min: 1, max: 30 }), (sent, chunkBytes) => {
      const stream = Buffer.concat(sent.map(frame))
      const reader = new FrameReader()
      const received: Uint8Array[] = []
      for (let at = 0; at < stream.length; at += chunkBytes) {
        for (const message of reader.push(stream.subarray(at, at + chunkBytes))) {
          received.push(new Uint8Array(message))
        }
      }
      expect(received).toEqual(sent)
    }),
  )
})

it("refuses compressed messages, and those that are too long", () => {
  expect(() => new FrameReader().push(Buffer.from([1, 0, 0, 0, 0]))).toThrow("compressed")
  expect(() => new FrameReader().push(Buffer.from([0, 0xff, 0, 0, 0]))).toThrow("too many")
})

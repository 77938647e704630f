import { expect, test } from "vitest"
import { FrameReader, frame } from "./frames.js"

test("values come out as they went in, wherever the stream is cut", () => {
  const values = [{ kind: "read" }, null, "grüße", [1, 2, 3]]
  const stream = Buffer.concat(values.map(frame))
  for (let size = 1; size <= stream.length; size += 1) {
    const reader = new FrameReader()
    const got: unknown[] = []
    for (let at = 0; at < stream.length; at += size) got.push(...reader.take(stream.subarray(at, at + size)))
    expect(got).toEqual(values)
  }
})

test("a frame beyond the limit is refused by its head", () => {
  expect(() => new FrameReader().take(Uint8Array.of(255, 0, 0, 0))).toThrow(RangeError)
})

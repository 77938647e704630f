import { once } from "node:events"
import { PassThrough } from "node:stream"
import { expect, test } from "vitest"
import { frameWriter, readFrames } from "./raw-frames.js"

test("reads frames wherever the stream is cut", async () => {
  const out = new PassThrough()
  const write = frameWriter(out)
  write(1, Buffer.from("one"))
  write(2, Buffer.alloc(0))
  write(3, Buffer.from("three"))
  const [bytes] = await once(out, "data")
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const into = new PassThrough()
    const read: string[] = []
    readFrames(into, (id, body) => read.push(`${id} ${body}`))
    into.emit("data", bytes.subarray(0, cut))
    into.emit("data", bytes.subarray(cut))
    expect(read).toEqual(["1 one", "2 ", "3 three"])
  }
})

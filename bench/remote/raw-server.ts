import type { AddressInfo } from "node:net"
import { createServer } from "node:net"
import { ParentProcess } from "../../tools/cluster/parent-process.js"
import { frameWriter, readFrames } from "./raw-frames.js"

/** Takes raw frames, and sends those back that `answer` gives a body for. */
export function serveRaw(answer: (id: number, body: Buffer) => Uint8Array | undefined): void {
  const server = createServer({ noDelay: true }, (socket) => {
    const write = frameWriter(socket)
    readFrames(socket, (id, body) => {
      const answered = answer(id, body)
      if (answered !== undefined) write(id, answered)
    })
  })
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo
    new ParentProcess().serve({ greeting: () => `${port}`, stop: () => {} })
  })
}

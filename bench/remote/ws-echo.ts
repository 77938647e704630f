import type { AddressInfo } from "node:net"
import { WebSocketServer } from "ws"
import { ParentProcess } from "../../tools/cluster/parent-process.js"

/** The least that answers a text frame with itself. */
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false })
server.on("connection", (socket) =>
  socket.on("message", (data: Buffer) => socket.send(data, { binary: false })),
)
server.on("listening", () => {
  const { port } = server.address() as AddressInfo
  new ParentProcess().serve({ greeting: () => `${port}`, stop: () => {} })
})

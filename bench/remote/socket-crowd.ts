import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { ParentProcess } from "../../tools/cluster/parent-process.js"

export interface Crowd {
  readonly port: number
  readonly count: number
  /** What each says first. */
  readonly hello: string
}

/** Opens that many sockets to a server, says hello on each, and keeps them until it is told to stop. */
const parent = new ParentProcess<string, never>()
const { port, count, hello } = JSON.parse(parent.options) as Crowd
const sockets: Socket[] = []
const text = Buffer.from(hello)
const frame = Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text])
const upgrade = `GET /actors HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket
sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`.replace(/\r?\n/g, "\r\n")
for (let opened = 0; opened < count; opened += 1) {
  const socket = connect(port, "127.0.0.1")
  socket.write(upgrade)
  await once(socket, "data")
  socket.write(frame)
  // The welcome, or the echo.
  await once(socket, "data")
  sockets.push(socket)
}
parent.serve({
  greeting: () => `${sockets.length}`,
  stop: () => {
    for (const socket of sockets) socket.destroy()
  },
})

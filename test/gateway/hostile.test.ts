import { once } from "node:events"
import { connect } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { SeededRandom } from "../../src/sim/seeded-random.js"
import { besiegeWithFrames, besiegeWithRequests } from "./siege.js"
import { startSite } from "./support.js"

it("answers none of 4,000 hostile requests but those that it may", () => besiegeWithRequests(4_000))

it("survives 6,000 hostile frames", () => besiegeWithFrames(6_000))

it("does not keep bytes that are no request and no frame", async () => {
  const site = await startSite()
  const random = new SeededRandom(1)
  const bytes = (length: number) => Buffer.from(random.bytes(length))
  for (let at = 0; at < 200; at += 1) {
    const socket = connect(site.port, "127.0.0.1")
    socket.on("error", () => {})
    const isUpgraded = at % 2 === 0
    if (isUpgraded) socket.write(UPGRADE)
    socket.write(bytes(random.below(2_000) + 1))
    socket.resume()
    if (!isUpgraded) socket.end()
    await once(socket, "close")
  }
  expect(await (await site.post("Room/x/say", ["hi"])).json()).toBe("ada in x: hi")
})

it("reads no more of a stranger than a hello needs", async () => {
  const site = await startSite()
  const socket = new WebSocket(`ws://127.0.0.1:${site.port}/actors`)
  await once(socket, "open")
  socket.on("error", () => {})
  socket.send("x".repeat(100_000))
  const [code] = (await once(socket, "close")) as [number]
  expect(code).toBe(1006)
})

it.each([
  ["of another origin", { origin: "https://evil.example" }, "/actors", 403],
  ["elsewhere", {}, "/sockets", 404],
  ["at an actor", {}, "/actors/Room/x/say", 404],
])("opens no socket %s", async (_what, headers, path, status) => {
  const site = await startSite()
  const socket = new WebSocket(`ws://127.0.0.1:${site.port}${path}`, { headers })
  const [error] = (await once(socket, "error")) as [Error]
  expect(error.message).toBe(`Unexpected server response: ${status}`)
})

it("opens as many sockets as the limits say", async () => {
  const { port } = await startSite({ limits: { strangers: 2, socketsOfPrincipal: 2 } })
  const open = async (token?: string) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/actors`)
    onTestFinished(() => socket.terminate())
    await once(socket, "open")
    if (token === undefined) return "stranger"
    const ended = once(socket, "close").then(([code]) => code as number)
    const welcomed = once(socket, "message").then(() => "welcome")
    socket.send(JSON.stringify({ kind: "hello", version: 1, token }))
    return await Promise.race([ended, welcomed])
  }
  expect([await open("a"), await open("a"), await open("a"), await open("b")]).toEqual([
    "welcome",
    "welcome",
    4429,
    "welcome",
  ])
  expect([await open(), await open()]).toEqual(["stranger", "stranger"])
  await expect(open()).rejects.toThrow("503")
})

it("closes a socket that does not read", async () => {
  const { port } = await startSite({ limits: { sendBytes: 65_536 } })
  const socket = connect(port, "127.0.0.1")
  socket.on("error", () => {})
  socket.write(UPGRADE)
  await once(socket, "data")
  socket.pause()
  socket.write(masked('{"kind":"hello","version":1,"token":"a"}'))
  const text = "x".repeat(200_000)
  // What the kernels keep for both sides is some megabytes.
  for (let id = 1; id <= 60; id += 1) {
    socket.write(
      masked(`{"kind":"call","id":${id},"type":"Room","key":"x","method":"echo","args":["${text}"]}`),
    )
  }
  // The gateway ends the connection although nothing of what it has sent was read.
  socket.write(masked('{"kind":"ping"}'))
  const isClosed = new Promise((resolve) => socket.once("close", resolve))
  await new Promise<void>((resolve) => {
    const write = () => {
      if (socket.destroyed || !socket.writable) return resolve()
      socket.write(masked('{"kind":"ping"}'), (error) => (error == null ? setImmediate(write) : resolve()))
    }
    write()
  })
  socket.destroy()
  await isClosed
})

const UPGRADE = [
  "GET /actors HTTP/1.1",
  "host: localhost",
  "connection: upgrade",
  "upgrade: websocket",
  "sec-websocket-version: 13",
  "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
  "\r\n",
].join("\r\n")

/** A text frame, masked with zeros. */
function masked(text: string): Buffer {
  const payload = Buffer.from(text)
  const { length } = payload
  const head = Buffer.alloc(length < 126 ? 6 : 14)
  head[0] = 0x81
  head[1] = 0x80 | (length < 126 ? length : 127)
  if (length >= 126) head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, payload])
}

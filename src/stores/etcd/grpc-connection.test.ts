import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import { type GrpcCall, GrpcConnection, type StreamListener } from "./grpc-connection.js"
import { ConnectionLost } from "./grpc-failure.js"

it("closes its socket once all calls were given up, even if the server does not read", async () => {
  const connection = await connected((socket) => {
    socket.write(SETTINGS)
    socket.pause()
  })
  const ended = new Promise<Error>((resolve) => {
    connection.onEnded = resolve
  })
  connection.stream("/watch", undefined, IGNORED)
  const message = new Uint8Array(64 * 1024)
  const calls: GrpcCall[] = []
  for (let count = 0; count < 256; count += 1) {
    calls.push(connection.call("/txn", message, { isRead: false }))
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const call of calls) call.cancel()
  connection.retire({ mayAnswer: true })
  for (const call of calls) await expect(call.answer).rejects.toThrow("the call was given up")
  expect((await ended).message).toBe("the connection was closed")
})

it("ends when a call could not be sent, though a stream goes on", async () => {
  const connection = await connected((socket) => {
    socket.write(SETTINGS)
    socket.resume()
  })
  const ended = new Promise<Error>((resolve) => {
    connection.onEnded = resolve
  })
  connection.stream("/watch", undefined, IGNORED)
  const token = "x".repeat(100_000)
  const call = connection.call("/txn", new Uint8Array(1), { isRead: true, token })
  await expect(call.answer).rejects.toThrow(ConnectionLost)
  expect((await ended).message).toBe("a frame could not be sent")
  expect(connection.isUsable).toBe(false)
  expect(() => connection.call("/txn", new Uint8Array(1), { isRead: true })).toThrow("has ended")
})

it("rejects if the socket connects just after the time for it has passed", async () => {
  let isClosed = () => {}
  const closed = new Promise<void>((resolve) => {
    isClosed = resolve
  })
  const url = await listening((socket) => socket.on("close", isClosed).resume())
  // The timers of an event loop follow its immediates, and the events of sockets follow its timers.
  await new Promise((resolve) => setImmediate(resolve))
  const connecting = GrpcConnection.connect(url, { tls: undefined, timeoutMs: 1 })
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  await expect(connecting).rejects.toThrow("no connection within 1 ms")
  await closed
})

async function connected(accept: (socket: Socket) => void): Promise<GrpcConnection> {
  const connection = await GrpcConnection.connect(await listening(accept), {
    tls: undefined,
    timeoutMs: 5_000,
  })
  onTestFinished(() => connection.destroy())
  return connection
}

/** Starts a server, and returns its address. */
async function listening(accept: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    accept(socket)
  }).listen(0, "127.0.0.1")
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  await once(server, "listening")
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The first frames of an HTTP/2 server: no settings, and a window that lets the client send very much. */
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 0, 0, 0x3f, 0xff, 0, 0])
const IGNORED: StreamListener = { received: () => {}, ended: () => {} }

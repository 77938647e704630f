import { once } from "node:events"
import net from "node:net"
import { Readable } from "node:stream"
import { setImmediate as turn } from "node:timers/promises"
import { afterEach, expect, test, vi } from "vitest"
import type { CloseReason, Connection } from "../ports/network.js"
import { nodeNetwork } from "./node-network.js"

const started: (() => unknown)[] = []

afterEach(async () => {
  vi.restoreAllMocks()
  for (const stop of started.splice(0)) await stop()
})

test("delivers what the peer wrote, in order, and sends what is written", async () => {
  const [connection, peer] = await accepted()
  const seen = watch(connection)
  for (let i = 0; i < 100; i += 1) peer.write(`${i} `)
  const all = Array.from({ length: 100 }, (_, i) => `${i} `).join("")
  await seen.until(() => seen.text === all)
  connection.write(Buffer.from("hello"))
  connection.write(new Uint8Array(0))
  connection.end()
  expect(await rest(peer)).toBe("hello")
})

test.each([
  ["accepted", accepted],
  ["connected", connected],
])("one that was %s reads nothing before it is attached, and loses nothing", async (_, make) => {
  const push = vi.spyOn(Readable.prototype, "push")
  const [connection, peer] = await make()
  peer.end("early")
  await once(peer, "finish")
  connection.resume()
  await turns()
  expect(push).not.toHaveBeenCalled()
  push.mockRestore()
  const seen = watch(connection)
  await seen.until(() => seen.calls.includes("ended"))
  expect(seen.calls).toEqual(["data early", "ended"])
})

test("stays paused if it was paused before it was attached", async () => {
  const [connection, peer] = await accepted()
  peer.write("early")
  connection.pause()
  const seen = watch(connection)
  await turns()
  expect(seen.calls).toEqual([])
  connection.resume()
  await seen.until(() => seen.text === "early")
})

test("delivers nothing while paused, and holds the peer back", async () => {
  const [connection, peer] = await accepted()
  const seen = watch(connection)
  connection.pause()
  const length = 32 * 1024 * 1024
  peer.write(Buffer.alloc(length))
  await turns()
  expect(seen.calls).toEqual([])
  expect(peer.writableLength).toBeGreaterThan(0)
  connection.resume()
  await seen.until(() => seen.receivedBytes === length)
})

test("says false once the peer stops reading, and drained when it went on", async () => {
  const [connection, peer] = await accepted()
  const seen = watch(connection)
  const writtenBytes = fill(connection)
  const before = connection.bufferedBytes
  expect(before).toBeGreaterThan(0)
  expect(connection.write(Buffer.alloc(1_000))).toBe(false)
  expect(connection.bufferedBytes).toBe(before + 1_000)
  await turns()
  expect(seen.calls).toEqual([])

  const arrived = received(peer, writtenBytes + 1_000)
  await seen.until(() => seen.calls.includes("drained"))
  expect(connection.bufferedBytes).toBe(0)
  await arrived
  expect(connection.write(Buffer.alloc(70_000))).toBe(true)
  await turns()
  expect(seen.calls).toEqual(["drained"])
})

test("says true for a chunk of any size that the system has taken", async () => {
  const [connection] = await accepted()
  const seen = watch(connection)
  expect(connection.write(Buffer.alloc(70_000))).toBe(true)
  await turns()
  expect(seen.calls).toEqual([])
})

test("tells drained after attach if it drained before", async () => {
  const [connection, peer] = await accepted()
  await received(peer, fill(connection))
  await turns()
  const seen = watch(connection)
  expect(seen.calls).toEqual([])
  await seen.until(() => seen.calls.includes("drained"))
})

test("writes on after the peer has ended, and closes when both have", async () => {
  const [connection, peer] = await accepted()
  const seen = watch(connection)
  peer.end("bye")
  await seen.until(() => seen.calls.includes("ended"))
  connection.write(Buffer.from("one more"))
  await turns()
  expect(seen.calls).toEqual(["data bye", "ended"])
  connection.end()
  expect(await rest(peer)).toBe("one more")
  await seen.until(() => seen.closed !== undefined)
  expect(seen.calls).toEqual(["data bye", "ended", "closed ended"])
})

test("reads on after this side has ended, and drops what is written then", async () => {
  const [connection, peer] = await accepted()
  const seen = watch(connection)
  connection.write(Buffer.from("mine"))
  connection.end()
  expect(connection.write(Buffer.from("dropped"))).toBe(true)
  connection.end()
  expect(await rest(peer)).toBe("mine")
  peer.end("yours")
  await seen.until(() => seen.closed !== undefined)
  expect(seen.calls).toEqual(["data yours", "ended", "closed ended"])
})

test("tells a reset by the peer as a failure", async () => {
  const [connection, peer] = await accepted()
  const seen = watch(connection)
  peer.resetAndDestroy()
  await seen.until(() => seen.closed !== undefined)
  expect(seen.calls).toEqual(["closed failed"])
  expect(seen.closed).toMatchObject({ error: { code: "Reset" } })
  expect(seen.closed).toMatchObject({
    error: { message: expect.stringContaining(`127.0.0.1:${connection.remote.port}`) },
  })
  connection.write(Buffer.from("too late"))
  connection.end()
  connection.destroy()
  await turns()
  expect(seen.calls).toEqual(["closed failed"])
})

test("keeps a failure that came before attach until then", async () => {
  const [connection, peer] = await accepted()
  peer.resetAndDestroy()
  await once(peer, "close")
  connection.write(Buffer.from("into the void"))
  connection.write(Buffer.from("into the void"))
  await turns()
  const seen = watch(connection)
  expect(seen.calls).toEqual([])
  await seen.until(() => seen.closed !== undefined)
  expect(seen.closed).toMatchObject({ kind: "failed", error: { code: "Reset" } })
})

test("calls nothing but closed after destroy, though more was read", async () => {
  const [connection, peer] = await accepted()
  const seen = watch(connection, () => connection.destroy())
  connection.pause()
  for (const chunk of ["a", "b", "c"]) {
    peer.write(chunk)
    await turns()
  }
  connection.resume()
  await seen.until(() => seen.closed !== undefined)
  expect(seen.calls).toEqual(["data a", "closed aborted"])
})

test("destroy before attach is told after it", async () => {
  const [connection] = await accepted()
  connection.destroy()
  connection.destroy()
  await turns()
  const seen = watch(connection)
  expect(seen.calls).toEqual([])
  await seen.until(() => seen.closed !== undefined)
  await turns()
  expect(seen.calls).toEqual(["closed aborted"])
})

test("an end that is under way at attach is told once", async () => {
  const [connection] = await accepted()
  connection.destroy()
  const seen = watch(connection)
  await turns()
  expect(seen.calls).toEqual(["closed aborted"])
})

test.each([0, 1, 2, 3])("so is a failure, %i ticks after the write that met it", async (ticks) => {
  const [connection, peer] = await accepted()
  peer.resetAndDestroy()
  await once(peer, "close")
  connection.write(Buffer.from("into the void"))
  for (let i = 0; i < ticks; i += 1) await new Promise<void>((resolve) => process.nextTick(resolve))
  const seen = watch(connection)
  await seen.until(() => seen.closed !== undefined)
  await turns()
  expect(seen.calls).toEqual(["closed failed"])
})

test("destroy loses what was not sent", async () => {
  const [connection, peer] = await accepted()
  const seen = watch(connection)
  const writtenBytes = fill(connection)
  connection.destroy()
  await seen.until(() => seen.closed !== undefined)
  expect(seen.calls).toEqual(["closed aborted"])
  peer.resume()
  await once(peer, "end")
  expect(peer.bytesRead).toBeLessThan(writtenBytes)
})

test("never calls back from inside a call", async () => {
  const [connection, peer] = await accepted()
  peer.write("x")
  await turns()
  let inside = ""
  const during = (name: string, call: () => unknown) => {
    inside = name
    call()
    inside = ""
  }
  const calledFrom: string[] = []
  const note = () => void calledFrom.push(inside)
  const ending = new Promise<void>((resolve) => {
    const closed = () => {
      note()
      resolve()
    }
    during("attach", () => connection.attach({ data: note, drained: note, ended: note, closed }))
  })
  during("write", () => fill(connection))
  during("end", () => connection.end())
  during("destroy", () => connection.destroy())
  await ending
  expect(calledFrom).toEqual([""])
})

test("is attached once", async () => {
  const [connection] = await accepted()
  watch(connection)
  expect(() => watch(connection)).toThrow("A connection is attached once.")
})

test("what a handler throws is not swallowed", async () => {
  const [connection, peer] = await accepted()
  const others = process.listeners("uncaughtException")
  process.removeAllListeners("uncaughtException")
  try {
    const uncaught = once(process, "uncaughtException")
    watch(connection, () => {
      throw new Error("handler broke")
    })
    peer.write("x")
    expect((await uncaught)[0]).toMatchObject({ message: "handler broke" })
  } finally {
    for (const listener of others) process.on("uncaughtException", listener)
  }
})

/** A connection that was accepted, and the plain socket at its other side, which reads when it is told to. */
async function accepted(): Promise<[Connection, net.Socket]> {
  let peer: net.Socket | undefined
  const connection = await new Promise<Connection>((resolve, reject) => {
    nodeNetwork.listen({ host: "127.0.0.1", port: 0 }, resolve).then((listener) => {
      started.push(() => listener.close())
      peer = plain(net.connect({ ...listener.at, allowHalfOpen: true }))
    }, reject)
  })
  started.push(() => connection.destroy())
  return [connection, peer as net.Socket]
}

async function connected(): Promise<[Connection, net.Socket]> {
  const server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, "127.0.0.1")
  started.push(() => server.close())
  await once(server, "listening")
  const { address, port } = server.address() as net.AddressInfo
  const [[peer], connection] = await Promise.all([
    once(server, "connection"),
    nodeNetwork.connect({ host: address, port }),
  ])
  started.push(() => connection.destroy())
  return [connection, plain(peer)]
}

function plain(peer: net.Socket): net.Socket {
  started.push(() => peer.destroy())
  return peer.pause()
}

/** Writes until the connection says to stop, and says how many bytes that were. */
function fill(connection: Connection): number {
  const chunk = Buffer.alloc(64 * 1024)
  for (let chunks = 1; chunks < 4_096; chunks += 1) {
    if (!connection.write(chunk)) return chunks * chunk.length
  }
  return expect.unreachable("256 MiB were taken by a peer that does not read")
}

async function received(peer: net.Socket, length: number): Promise<void> {
  let left = length
  await new Promise<void>((resolve) => {
    peer.on("data", (chunk) => {
      left -= chunk.length
      if (left === 0) resolve()
    })
    peer.resume()
  })
}

async function rest(peer: net.Socket): Promise<string> {
  let text = ""
  peer.on("data", (chunk) => {
    text += chunk.toString()
  })
  peer.resume()
  await once(peer, "end")
  return text
}

/** Lets everything run that is ready now. */
async function turns(): Promise<void> {
  for (let i = 0; i < 10; i += 1) await turn()
}

/** Attaches a handler that keeps what it is told, in order; data that came in several chunks is one call. */
function watch(connection: Connection, onData: () => void = () => {}): Seen {
  const seen = new Seen()
  connection.attach({
    data: (chunk) => {
      seen.add(chunk)
      onData()
    },
    drained: () => seen.call("drained"),
    ended: () => seen.call("ended"),
    closed: (reason) => {
      seen.closed = reason
      seen.call(`closed ${reason.kind}`)
    },
  })
  return seen
}

class Seen {
  readonly calls: string[] = []
  text = ""
  receivedBytes = 0
  closed: CloseReason | undefined
  #look: () => void = () => {}

  add(chunk: Uint8Array): void {
    this.receivedBytes += chunk.length
    const text = chunk.length > 1_000 ? "..." : Buffer.from(chunk).toString()
    this.text += text
    const last = this.calls.at(-1)
    if (last?.startsWith("data ")) this.calls[this.calls.length - 1] = last + text
    else this.calls.push(`data ${text}`)
    this.#look()
  }

  call(name: string): void {
    this.calls.push(name)
    this.#look()
  }

  /** Looks again after every call. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (condition()) resolve()
      }
      this.#look()
    })
  }
}

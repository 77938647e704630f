import { once } from "node:events"
import net from "node:net"
import { Readable } from "node:stream"
import { setImmediate as turn } from "node:timers/promises"
import tls from "node:tls"
import { afterEach, describe, expect, test, vi } from "vitest"
import { ca, node } from "../../test/certificates/certificates.js"
import type { CloseReason, Connection, TlsOptions } from "../ports/network.js"
import { nodeNetwork } from "./node-network.js"

const started: (() => unknown)[] = []
const secure: TlsOptions = { ...node, ca }

afterEach(async () => {
  vi.restoreAllMocks()
  for (const stop of started.splice(0)) await stop()
})

describe.each([
  ["TCP", undefined],
  ["TLS", secure],
])("over %s", (_, options) => {
  test("delivers what the peer wrote, in order, and sends what is written", async () => {
    const [connection, peer] = await accepted(options)
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
  ])("one that was %s calls nothing before it is attached, and loses nothing", async (_, make) => {
    const [connection, peer] = await make(options)
    peer.end("early")
    await once(peer, "finish")
    connection.resume()
    await turns()
    const seen = watch(connection)
    expect(seen.calls).toEqual([])
    await seen.until(() => seen.calls.includes("ended"))
    expect(seen.calls).toEqual(["data early", "ended"])
  })

  test.each([
    ["accepted", accepted],
    ["connected", connected],
  ])("one that was %s holds the peer back before it is attached", async (_, make) => {
    const [connection, peer] = await make(options)
    const length = 32 * 1024 * 1024
    peer.write(Buffer.alloc(length))
    await turns()
    expect(peer.writableLength).toBeGreaterThan(0)
    const seen = watch(connection)
    await seen.until(() => seen.receivedBytes === length)
  })

  test("an end before attach is told after it", async () => {
    const [connection, peer] = await accepted(options)
    peer.end()
    await once(peer, "finish")
    await turns()
    const seen = watch(connection)
    expect(seen.calls).toEqual([])
    await seen.until(() => seen.calls.includes("ended"))
    connection.write(Buffer.from("still open"))
    connection.end()
    expect(await rest(peer)).toBe("still open")
    await seen.until(() => seen.closed !== undefined)
    expect(seen.calls).toEqual(["ended", "closed ended"])
  })

  test.each([0, 1, 2, 10])("so are the ends of both, %i turns after the last", async (count) => {
    const [connection, peer] = await accepted(options)
    peer.end()
    connection.end()
    await rest(peer)
    for (let i = 0; i < count; i += 1) await turn()
    const seen = watch(connection)
    await seen.until(() => seen.closed !== undefined)
    await turns()
    expect(seen.calls).toEqual(["ended", "closed ended"])
  })

  test("stays paused if it was paused before it was attached", async () => {
    const [connection, peer] = await accepted(options)
    peer.write("early")
    connection.pause()
    const seen = watch(connection)
    await turns()
    expect(seen.calls).toEqual([])
    connection.resume()
    await seen.until(() => seen.text === "early")
  })

  test("delivers nothing while paused, and holds the peer back", async () => {
    const [connection, peer] = await accepted(options)
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
    const [connection, peer] = await accepted(options)
    const seen = watch(connection)
    const writtenBytes = await fill(connection)
    seen.calls.splice(0)
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
    expect(connection.write(Buffer.alloc(1_000))).toBe(true)
    await turns()
    expect(seen.calls).toEqual(["drained"])
    expect(connection.bufferedBytes).toBe(0)
  })

  test("tells drained after attach if it drained before", async () => {
    const [connection, peer] = await accepted(options)
    await received(peer, await fill(connection))
    await turns()
    const seen = watch(connection)
    expect(seen.calls).toEqual([])
    await seen.until(() => seen.calls.includes("drained"))
  })

  test("writes on after the peer has ended, and closes when both have", async () => {
    const [connection, peer] = await accepted(options)
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
    const [connection, peer] = await accepted(options)
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
    const [connection, peer] = await accepted(options)
    const seen = watch(connection)
    peer.reset()
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
    const [connection, peer] = await accepted(options)
    peer.reset()
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
    const [connection, peer] = await accepted(options)
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
    const [connection] = await accepted(options)
    connection.destroy()
    connection.destroy()
    await turns()
    const seen = watch(connection)
    expect(seen.calls).toEqual([])
    await seen.until(() => seen.closed !== undefined)
    await turns()
    expect(seen.calls).toEqual(["closed aborted"])
  })

  test.each(["before", "after"])("destroy %s attach leaves an end untold that had come", async (moment) => {
    const [connection, peer] = await accepted(options)
    peer.end()
    await once(peer, "finish")
    await turns()
    if (moment === "before") connection.destroy()
    const seen = watch(connection)
    connection.destroy()
    await seen.until(() => seen.closed !== undefined)
    await turns()
    expect(seen.calls).toEqual(["closed aborted"])
  })

  test("an end that is in progress at attach is reported once", async () => {
    const [connection] = await accepted(options)
    connection.destroy()
    const seen = watch(connection)
    await turns()
    expect(seen.calls).toEqual(["closed aborted"])
  })

  test.each([0, 1, 2, 3])("so is a failure, %i ticks after the write that met it", async (ticks) => {
    const [connection, peer] = await accepted(options)
    peer.reset()
    await once(peer, "close")
    connection.write(Buffer.from("into the void"))
    for (let i = 0; i < ticks; i += 1) await new Promise<void>((resolve) => process.nextTick(resolve))
    const seen = watch(connection)
    await seen.until(() => seen.closed !== undefined)
    await turns()
    expect(seen.calls).toEqual(["closed failed"])
  })

  test("destroy loses what was not sent", async () => {
    const [connection, peer] = await accepted(options)
    const seen = watch(connection)
    const writtenBytes = await fill(connection)
    seen.calls.splice(0)
    connection.destroy()
    await seen.until(() => seen.closed !== undefined)
    expect(seen.calls).toEqual(["closed aborted"])
    expect((await rest(peer)).length).toBeLessThan(writtenBytes)
  })

  test("never calls back from inside a call", async () => {
    const [connection, peer] = await accepted(options)
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
    during("write", () => connection.write(Buffer.alloc(16 * 1024 * 1024)))
    during("end", () => connection.end())
    during("destroy", () => connection.destroy())
    await ending
    expect(calledFrom).toEqual([""])
  })

  test("is attached once", async () => {
    const [connection] = await accepted(options)
    watch(connection)
    expect(() => watch(connection)).toThrow("a connection is attached twice")
  })

  test("what a handler throws is not swallowed", async () => {
    const [connection, peer] = await accepted(options)
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
})

describe("over TCP alone", () => {
  test("nothing is read before it is attached", async () => {
    const push = vi.spyOn(Readable.prototype, "push")
    for (const make of [accepted, connected]) {
      const [connection, peer] = await make(undefined)
      peer.end("early")
      await once(peer, "finish")
      connection.resume()
      await turns()
    }
    expect(push).not.toHaveBeenCalled()
  })

  test("says true for a chunk of any size that the system has taken", async () => {
    const [connection] = await accepted(undefined)
    const seen = watch(connection)
    expect(connection.write(Buffer.alloc(70_000))).toBe(true)
    await turns()
    expect(seen.calls).toEqual([])
  })
})

describe("over TLS alone", () => {
  test("says false for a large chunk until the next turn, and then drained", async () => {
    const [connection] = await accepted(secure)
    const seen = watch(connection)
    expect(connection.write(Buffer.alloc(70_000))).toBe(false)
    await turns()
    expect(seen.calls).toEqual(["drained"])
    expect(connection.bufferedBytes).toBe(0)
  })

  test("bytes that are not the peer's close it as a failure", async () => {
    const [connection, peer] = await accepted(secure)
    const seen = watch(connection)
    peer.write("good")
    await seen.until(() => seen.text === "good")
    peer.beneath.write("this is no TLS record, and whoever wrote it is not the peer")
    await seen.until(() => seen.closed !== undefined)
    await turns()
    expect(seen.calls).toEqual(["data good", "closed failed"])
    expect(seen.closed).toMatchObject({ error: { name: "NetworkError", code: "Other" } })
  })

  test("a peer that leaves without a word of TLS has ended", async () => {
    const [connection, peer] = await accepted(secure)
    const seen = watch(connection)
    peer.beneath.end()
    await seen.until(() => seen.calls.includes("ended"))
    expect(seen.calls).toEqual(["ended"])
  })
})

/** The other side of a connection, which reads when it is told to. */
type Peer = net.Socket & { readonly beneath: net.Socket; reset(): void }

async function accepted(options: TlsOptions | undefined): Promise<[Connection, Peer]> {
  let accept: (connection: Connection) => void = () => {}
  const connection = new Promise<Connection>((resolve) => {
    accept = resolve
  })
  const listener = await nodeNetwork.listen({ host: "127.0.0.1", port: 0 }, accept, { tls: options })
  started.push(() => listener.close())
  const beneath = net.connect({ ...listener.at, allowHalfOpen: true })
  await once(beneath, "connect")
  const peer = peerOf(options === undefined ? beneath : tls.connect({ ...options, socket: beneath }), beneath)
  started.push(async () => (await connection).destroy())
  await connection
  // A TLS server still writes for a moment: a reset that meets these bytes is told as an end.
  await turns()
  return [await connection, peer]
}

async function connected(options: TlsOptions | undefined): Promise<[Connection, Peer]> {
  const halfOpen = { allowHalfOpen: true, pauseOnConnect: true }
  const server =
    options === undefined ? net.createServer(halfOpen) : tls.createServer({ ...halfOpen, ...options })
  server.listen(0, "127.0.0.1")
  started.push(() => server.close())
  await once(server, "listening")
  const { address, port } = server.address() as net.AddressInfo
  const [[beneath], [peer], connection] = await Promise.all([
    once(server, "connection"),
    once(server, options === undefined ? "connection" : "secureConnection"),
    nodeNetwork.connect({ host: address, port }, { tls: options }),
  ])
  started.push(() => connection.destroy())
  return [connection, peerOf(peer, beneath)]
}

function peerOf(socket: net.Socket, beneath: net.Socket): Peer {
  started.push(() => socket.destroy())
  socket.on("error", () => {})
  return Object.assign(socket.pause(), { beneath, reset: () => beneath.resetAndDestroy() })
}

/** Writes until it is stuck, because the peer does not read, and says how many bytes that were. */
async function fill(connection: Connection): Promise<number> {
  const chunk = Buffer.alloc(64 * 1024)
  for (let chunks = 1; chunks < 4_096; chunks += 1) {
    if (connection.write(chunk)) continue
    await turns()
    if (connection.bufferedBytes > 0) return chunks * chunk.length
  }
  return expect.unreachable("256 MiB were taken by a peer that does not read")
}

async function received(peer: Peer, length: number): Promise<void> {
  let left = length
  await new Promise<void>((resolve) => {
    peer.on("data", (chunk) => {
      left -= chunk.length
      if (left === 0) resolve()
    })
    peer.resume()
  })
}

async function rest(peer: Peer): Promise<string> {
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

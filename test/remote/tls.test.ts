import { connect } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import type { ActorSystemSettings, TlsOptions } from "../../src/index.js"
import { ca, node as certified, expired, otherCa, otherNode } from "../certificates/certificates.js"
import { CuttingProxy } from "./support/cutting-proxy.js"
import { notice, until } from "./support/until.js"
import { type Question, SECRET, WatchedNode } from "./support/watched-node.js"

const oneWayTls: TlsOptions = { ...certified, ca }
const mutualTls: TlsOptions = { ...certified, ca, mutual: true }

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

describe("two nodes over TLS", () => {
  it.each([
    ["TLS and a secret", { secret: SECRET, tls: oneWayTls }],
    ["mutual TLS and a secret", { secret: SECRET, tls: mutualTls }],
    ["mutual TLS alone", { tls: mutualTls }],
  ])("communicate in both directions with %s", async (_, listen) => {
    const [a, b] = [await start(listen), await start(listen)]
    expect(await ask(a, b, "there")).toBe("there")
    expect(await ask(b, a, "and back")).toBe("and back")
    const many = Array.from({ length: 500 }, (_, at) => `${at} ${"x".repeat(at * 10)}`)
    expect(await Promise.all(many.map((text) => ask(a, b, text)))).toEqual(many)
    expect(a.connected).toHaveLength(1)
    expect(b.connected).toHaveLength(1)
    expect([...a.refused, ...b.refused, ...a.failed, ...b.failed]).toEqual([])
  })

  it("cannot be read on the network between them", async () => {
    const words = "what only the two of them are to know"
    for (const [tls, isRead] of [
      [undefined, true],
      [mutualTls, false],
    ] as const) {
      const proxy = await CuttingProxy.start(true)
      stops.push(() => proxy.stop())
      const behind = await start(
        { secret: SECRET, ...(tls === undefined ? {} : { tls }) },
        { advertise: { host: "127.0.0.1", port: proxy.port } },
        proxy,
      )
      const before = await start({ secret: SECRET, ...(tls === undefined ? {} : { tls }) })
      expect(await ask(before, behind, words)).toBe(words)
      const seen = Buffer.concat(proxy.seen ?? [])
      expect(seen.length).toBeGreaterThan(300)
      expect(seen.includes(words)).toBe(isRead)
      expect(seen.includes(SECRET)).toBe(false)
    }
  })
})

describe("a node that is not trusted", () => {
  it("is not connected to: its certificate has another authority", async () => {
    const listens = await start({ secret: SECRET, tls: { ...otherNode, ca: otherCa } })
    const dials = await start({ secret: SECRET, tls: mutualTls })
    await expect(ask(dials, listens, "hello?", 300)).rejects.toMatchObject({ delivery: "not-delivered" })
    await failedFor(dials, listens, "untrusted")
    expect(dials.system.association(listens.authority)).not.toBe("connected")
    expect(listens.connected).toEqual([])
  })

  it("is not connected to: its certificate has expired", async () => {
    const listens = await start({ secret: SECRET, tls: { ...expired, ca } })
    const dials = await start({ secret: SECRET, tls: mutualTls })
    await expect(ask(dials, listens, "hello?", 300)).rejects.toMatchObject({ delivery: "not-delivered" })
    await failedFor(dials, listens, "untrusted")
  })

  it("is refused by a listener that requests certificates", async () => {
    const listens = await start({ secret: SECRET, tls: mutualTls })
    // The node trusts the listener and knows the secret; its own certificate has another authority.
    const dials = await start({ secret: SECRET, tls: { ...otherNode, ca } })
    await expect(ask(dials, listens, "hello?", 300)).rejects.toMatchObject({ delivery: "not-delivered" })
    // A listener does not send the reason to a refused peer, which only sees the closed connection; the listener logs it.
    await failedFor(dials, listens, "ended")
    await until("it says so", () => listens.refused.some(({ reason }) => reason === "untrusted"))
    expect(dials.connected).toEqual([])
    expect(listens.connected).toEqual([])
    // Other nodes are served.
    const good = await start({ secret: SECRET, tls: mutualTls })
    expect(await ask(good, listens, "still")).toBe("still")
  })

  it("may have a valid certificate and still needs the secret", async () => {
    const listens = await start({ secret: SECRET, tls: mutualTls })
    const dials = await start({ secret: "another secret altogether", tls: mutualTls })
    await expect(ask(dials, listens, "hello?", 300)).rejects.toMatchObject({ delivery: "not-delivered" })
    await failedFor(dials, listens, "refused")
    expect(listens.refused[0]).toMatchObject({ reason: "wrong-secret" })
    expect(listens.connected).toEqual([])
  })
})

describe("nodes of which only one uses TLS", () => {
  it.each([
    ["a plain one dials", {}, { tls: mutualTls }, "ended"],
    ["a plain one is dialled", { tls: mutualTls }, {}, "unreachable"],
  ])("do not connect when %s", async (_, dialling, listening, reason) => {
    const listens = await start({ secret: SECRET, ...listening })
    const dials = await start({ secret: SECRET, ...dialling })
    await expect(ask(dials, listens, "hello?", 300)).rejects.toMatchObject({ delivery: "not-delivered" })
    await failedFor(dials, listens, reason)
    expect(dials.connected).toEqual([])
    expect(listens.connected).toEqual([])
  })
})

describe("the log of a connection that ended without GOODBYE", () => {
  it.each([
    ["speaks of certificates with TLS", mutualTls, true],
    ["does not speak of certificates without it", undefined, false],
  ])("%s", async (_, tls, speaks) => {
    const proxy = await CuttingProxy.start()
    stops.push(() => proxy.stop())
    const listen = { secret: SECRET, ...(tls === undefined ? {} : { tls }) }
    const behind = await start(listen, { advertise: { host: "127.0.0.1", port: proxy.port } }, proxy)
    const before = await start(listen)
    expect(await ask(before, behind, "hello")).toBe("hello")
    proxy.cut("end")
    await until("it is lost", () => before.lost.length > 0)
    expect(before.lost[0]?.reason).toBe("ended")
    const line = before.log.find((one) => one.includes("lost the connection with a node"))
    expect(line).toContain("the other node closed the connection")
    expect(line?.includes("certificate")).toBe(speaks)
  })
})

describe("a TLS listener", () => {
  it("ignores garbage, half a handshake, and a reset during one", async () => {
    const [a, b] = [await start({ tls: mutualTls }), await start({ tls: mutualTls })]
    expect(await ask(a, b, "before")).toBe("before")
    const clientHello = Buffer.from("16030100", "hex")
    const attacks = [
      Buffer.from("GET / HTTP/1.1\r\n\r\n"),
      Buffer.alloc(100_000, 0xff),
      clientHello,
      Buffer.alloc(0),
    ]
    let closed = 0
    for (let round = 0; round < 40; round += 1) {
      const socket = connect(b.system.address.port as number, "127.0.0.1")
      socket.on("error", () => {})
      socket.on("close", () => {
        closed += 1
        notice()
      })
      socket.on("connect", notice)
      await until("it is connected", () => !socket.connecting)
      socket.write(attacks[round % attacks.length] as Buffer)
      if (round % 4 >= 2) socket.resetAndDestroy()
      else socket.resume()
      expect(await ask(a, b, `during ${round}`)).toBe(`during ${round}`)
    }
    await until("all of them are gone", () => closed === 40)
    expect(await ask(a, b, "after")).toBe("after")
    expect(a.lost).toEqual([])
    expect(b.connected).toHaveLength(1)
  })
})

async function start(
  listen: { secret?: string; tls?: TlsOptions },
  settings: Partial<ActorSystemSettings> = {},
  proxy?: CuttingProxy,
): Promise<WatchedNode> {
  const node = await WatchedNode.start(
    {
      listen: { host: "127.0.0.1", port: 0, ...listen },
      reconnect: { fromMs: 10, toMs: 50 },
      ...settings,
    },
    proxy === undefined ? {} : { network: proxy.network },
  )
  stops.push(() => node.stop())
  return node
}

function ask(from: WatchedNode, to: WatchedNode, text: string, timeoutMs = 10_000): Promise<string> {
  const echo = from.system.resolve<Question>(to.path("echo"))
  return from.system.ask<Question, string>(echo, (replyTo) => ({ text, replyTo }), { timeoutMs })
}

async function failedFor(dials: WatchedNode, listens: WatchedNode, reason: string): Promise<void> {
  await until("it knows that it failed", () => dials.failed.length > 0)
  expect(new Set(dials.failed.map((event) => event.reason))).toEqual(new Set([reason]))
  expect(dials.failed[0]?.authority).toBe(listens.authority)
}

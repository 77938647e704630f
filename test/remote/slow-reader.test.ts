import { afterEach, describe, expect, it } from "vitest"
import {
  DeadLetter,
  type DeadLetterReason,
  type OverloadedError,
  type TimeoutError,
} from "../../src/index.js"
import { bytesInUse, MIB } from "./support/memory.js"
import { freshNode, type RawPeer } from "./support/raw-peer.js"
import { type Siege, sieges } from "./support/siege.js"
import { recorded, until } from "./support/until.js"
import { name, payloadOf, request } from "./support/wire.js"

interface Numbered {
  readonly number: number
  readonly text: string
}

const besiege = sieges()
const TEXT = "x".repeat(1_000)
/** More than the buffers of the operating system hold for one connection. */
const FLOOD = 40_000

describe("a peer that does not read", () => {
  const stopped: (() => void)[] = []
  afterEach(() => {
    for (const stop of stopped.splice(0)) stop()
  })

  it("costs no more than the outbound buffer; beyond that tells are refused, and queued ones arrive in order", async () => {
    const { node, peer, ref, dead, reasons } = await talking({ bytes: MIB, overflow: "refuse" })
    const before = await bytesInUse()
    peer.socket.pause()
    await flood(node, ref, FLOOD)
    await until("tells are refused", () => dead.length > 0)
    const waiting = (await bytesInUse()) - before
    // The queue, and what this test keeps of refused messages; without a limit it would be 40 MB.
    expect(waiting).toBeLessThan(MIB + 3 * MIB)
    expect([...reasons]).toEqual(["outbound-full"])

    peer.socket.resume()
    const taken = FLOOD - dead.length
    await until("all that was taken arrives", () => peer.frames.length === taken + 1)
    const arrived = numbersOf(peer)
    expect(arrived).toEqual(ascending(arrived))
    expect(dead).toEqual(ascending(dead))
    expect(ascending([...arrived, ...dead])).toEqual(Array.from({ length: FLOOD }, (_, number) => number))

    ref.tell({ number: FLOOD, text: "after" })
    await until("it is sent to again", () => peer.frames.length === taken + 2)
    expect(numbersOf(peer).at(-1)).toBe(FLOOD)
    expect(node.lost).toEqual([])
  })

  it("has asks refused as not delivered once the buffer is full", async () => {
    const { node, peer, ref, dead } = await talking({ bytes: MIB, overflow: "refuse" })
    peer.socket.pause()
    await flood(node, ref, FLOOD)
    await until("tells are refused", () => dead.length > 0)
    const asked = () => node.system.ask(ref, () => ({ number: -1, text: TEXT }), { timeoutMs: 10_000 })
    const failed: OverloadedError = await asked().then(
      neverAnswered,
      (error: unknown) => error as OverloadedError,
    )
    expect(failed).toMatchObject({ code: "Overloaded", delivery: "not-delivered", capacity: MIB })
    peer.socket.resume()
    await until("what waited arrives", () => peer.frames.length === FLOOD - dead.length + 1)
    expect(numbersOf(peer)).not.toContain(-1)
  })

  it("is not sent a question that ended while it was queued", async () => {
    const { node, peer, ref } = await talking({ bytes: 64 * MIB, overflow: "refuse" })
    peer.socket.pause()
    await flood(node, ref, FLOOD)
    const asked = node.system.ask(ref, () => ({ number: -1, text: TEXT }), { timeoutMs: 20 })
    const failed: TimeoutError = await asked.then(neverAnswered, (error: unknown) => error as TimeoutError)
    expect(failed).toMatchObject({ code: "Timeout", delivery: "not-delivered" })
    ref.tell({ number: FLOOD, text: "last" })
    peer.socket.resume()
    await until("the last arrives", () => peer.frames.length >= FLOOD + 2)
    expect(numbersOf(peer)).toEqual(Array.from({ length: FLOOD + 1 }, (_, number) => number))
  })

  it("loses the oldest queued messages with overflow drop-oldest", async () => {
    const { node, peer, ref, dead, reasons } = await talking({ bytes: MIB, overflow: "drop-oldest" })
    const before = await bytesInUse()
    peer.socket.pause()
    await flood(node, ref, FLOOD)
    await until("some are dropped", () => dead.length > 0)
    expect((await bytesInUse()) - before).toBeLessThan(MIB + 2 * MIB)
    expect([...reasons]).toEqual(["outbound-full"])
    peer.socket.resume()
    await until("the rest arrives", () => peer.frames.length === FLOOD - dead.length + 1)
    const arrived = numbersOf(peer)
    expect(arrived).toEqual(ascending(arrived))
    // One range is missing: from the first that was queued to the last that was dropped.
    const [first = -1] = dead
    expect(dead).toEqual(Array.from({ length: dead.length }, (_, at) => first + at))
    expect(arrived.at(-1)).toBe(FLOOD - 1)
    expect(arrived).toHaveLength(FLOOD - dead.length)
  })

  it("and keeps asking questions that fail is disconnected before the failures exhaust memory", async () => {
    const { node, insider } = await besiege({ outboundBuffer: { bytes: MIB } })
    const peer = await insider()
    const before = await bytesInUse()
    peer.socket.pause()
    peer.send(name(0, node.path("nobody")))
    const question = payloadOf("anybody there?")
    for (let from = 0; node.lost.length === 0 && from < 500_000; from += 500) {
      peer.send(...Array.from({ length: 500 }, (_, at) => request(0, from + at, question)))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(node.lost.map(({ reason }) => reason)).toEqual(["slow"])
    peer.sent.length = 0
    expect((await bytesInUse()) - before).toBeLessThan(8 * MIB)
  })

  /** Starts a node with a ref to an actor of a connected peer, whose dead letters are only counted. */
  async function talking(outboundBuffer: { bytes: number; overflow: "refuse" | "drop-oldest" }) {
    const { node, insider } = await besiege({ outboundBuffer })
    const self = freshNode()
    const peer = await insider({ self })
    const ref = node.system.resolve<Numbered>(`troupe.tcp://besieged@${self.address}/user/reader`)
    const dead = recorded<number>()
    const reasons = new Set<DeadLetterReason>()
    const subscription = node.system.events.subscribe(DeadLetter, ({ message, reason }) => {
      dead.push((message as Numbered).number)
      reasons.add(reason)
    })
    stopped.push(() => subscription.cancel())
    peer.frames.length = 0
    return { node, peer, ref, dead, reasons }
  }
})

/** Tells that many messages, a few in each turn of the event loop. */
async function flood(
  node: Siege["node"],
  ref: { tell(message: Numbered): void },
  count: number,
): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    ref.tell({ number, text: TEXT })
    if (number % 100 === 99) await new Promise((resolve) => setImmediate(resolve))
    node.deadLetters.length = 0
  }
  await new Promise((resolve) => setImmediate(resolve))
  node.deadLetters.length = 0
}

function numbersOf(peer: RawPeer): number[] {
  return peer.messages.map(({ message }) => (message as Numbered).number)
}

function ascending(numbers: readonly number[]): number[] {
  return [...numbers].sort((a, b) => a - b)
}

function neverAnswered(): never {
  throw new Error("nobody answers here")
}

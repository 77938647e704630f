import { describe, expect, it } from "vitest"
import { type ActorRef, Behaviors } from "../../src/index.js"
import { MAX_NAME_BYTES, MAX_NAMES, PING, WATCHING } from "../../src/remote/frames.js"
import { bytesInUse, MIB } from "./support/memory.js"
import { freshNode, type RawPeer } from "./support/raw-peer.js"
import { type Siege, sieges } from "./support/siege.js"
import { notice, recorded, until } from "./support/until.js"
import {
  answer,
  type Frame,
  frame,
  name,
  oneWay,
  payloadOf,
  RefText,
  request,
  varint,
  watch,
} from "./support/wire.js"

const besiege = sieges()

describe("the memory that a peer can take", () => {
  it.each<[what: string, one: string, each: number]>([
    ["empty arrays", "a0", 2],
    ["arrays of one", "a100", 3],
    ["empty objects", "b0", 2],
    ["objects of one field that is an index", "b1843130303000", 3],
    ["empty maps", "d100", 4],
    ["maps of one", "d1010000", 5],
    ["empty sets", "d200", 4],
    ["dates", "d30000000000000000", 2],
    ["empty bytes", "d400", 5],
    ["typed arrays of one", "d50808000000000000f03f", 5],
    ["empty errors", "d680b0b0", 7],
    ["errors with a field that is an index", "d680b0b1843130303000", 8],
  ])("by a message of %s is not much more than its size", async (_, one, each) => {
    // maxMessageBytes is large enough, so that only the item weights limit the message.
    const { node, insider } = await besiege({ maxMessageBytes: 2 * MIB })
    const kept = recorded<unknown>()
    const keeper = Behaviors.receive<unknown>((_context, message) => {
      kept.push(message)
      return Behaviors.same
    })
    node.system.spawn(keeper, "keeper")
    const peer = await insider()
    const bytes = Buffer.from(one, "hex")
    const count = Math.floor(249_999 / each)
    const payload = Buffer.concat([
      Buffer.from([0xcf]),
      varint(count),
      Buffer.alloc(count * bytes.length, bytes),
    ])
    const before = await bytesInUse()
    peer.send(name(0, node.path("keeper")), oneWay(0, payload))
    peer.sent.length = 0
    await until("it is told", () => kept.length === 1)
    expect((kept[0] as unknown[]).length).toBe(count)
    expect(await grown(before)).toBeLessThan(28 * MIB)
    // With one more item the message is refused.
    const more = Math.floor(250_000 / each) + 1
    peer.send(
      oneWay(0, Buffer.concat([Buffer.from([0xcf]), varint(more), Buffer.alloc(more * bytes.length, bytes)])),
    )
    await until("it is quarantined", () => node.quarantined.length > 0)
    expect(node.quarantined[0]?.reason).toMatch(/exceeds maxItems of the codec \(250000\b/)
  })

  it("by names is bounded by the table of names, however often they change", async () => {
    const { node, insider } = await besiege()
    const before = await bytesInUse()
    const peer = await insider()
    for (let round = 0; round < 3; round += 1) {
      await flood(node, peer, MAX_NAMES, (number) => name(number, padded(node.path(`${round}-${number}-`))))
    }
    // Names of 8 MiB in total, kept once and not once per round.
    expect(await grown(before)).toBeLessThan(16 * MIB)
    await hangUp(node, peer)
    expect(await grown(before)).toBeLessThan(8 * MIB)
  })

  it("by watches is released with its connection", async () => {
    const { node, insider } = await besiege()
    const before = await bytesInUse()
    const peer = await insider()
    await flood(node, peer, 100_000, (number) => watch(number, node.path("echo")))
    await until("all are watching", () => peer.framesOf(WATCHING).length === 100_000)
    peer.frames.length = 0
    expect(await grown(before)).toBeLessThan(96 * MIB)
    await hangUp(node, peer)
    expect(await grown(before)).toBeLessThan(8 * MIB)
  })

  it("by unanswered questions is released with its connection, whatever their deadline", async () => {
    const { node, insider } = await besiege()
    node.system.spawn(
      Behaviors.receive(() => Behaviors.same),
      "mute",
    )
    const before = await bytesInUse()
    const peer = await insider()
    peer.send(name(0, node.path("mute")))
    await flood(node, peer, 100_000, (number) => {
      return request(
        0,
        number,
        payloadOf({ replyTo: new RefText("") }),
        Number.MAX_SAFE_INTEGER - number * 1_000,
      )
    })
    expect(await grown(before)).toBeLessThan(96 * MIB)
    await hangUp(node, peer)
    expect(await grown(before)).toBeLessThan(8 * MIB)
  })

  it("by refs to other nodes is none", async () => {
    const { node, insider } = await besiege()
    const before = await bytesInUse()
    const peer = await insider()
    peer.send(name(0, node.path("echo")))
    await flood(node, peer, 100_000, (number) => {
      const authority = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}:1`
      return oneWay(0, payloadOf(new RefText(`troupe.tcp://a@${authority}/user/x`)))
    })
    expect(await grown(before)).toBeLessThan(12 * MIB)
    expect(node.system.association("10.0.0.9:1")).toBeUndefined()
  })

  it("by refs of the greatest length is bounded", async () => {
    const { node, insider } = await besiege()
    const before = await bytesInUse()
    const peer = await insider()
    peer.send(name(0, node.path("echo")))
    await flood(node, peer, 20_000, (number) =>
      oneWay(0, payloadOf(new RefText(padded(node.path(`${number}-`))))),
    )
    // Of 40 MiB, about a fifth is kept.
    expect(await grown(before)).toBeLessThan(16 * MIB)
  })

  it("by unrequested answers is none", async () => {
    const { node, insider } = await besiege()
    const before = await bytesInUse()
    const peer = await insider()
    await flood(node, peer, 50_000, (number) => answer(number, payloadOf("x".repeat(200))))
    expect(node.system.deadLetterCount).toBeGreaterThanOrEqual(50_000)
    expect(await grown(before)).toBeLessThan(8 * MIB)
  })

  it("by questions whose answers it does not read is bounded by the outbound buffer", async () => {
    const { node, insider } = await besiege({ outboundBuffer: { bytes: 4 * MIB } })
    let asked = 0
    const answers = Behaviors.receive<{ replyTo: ActorRef<string> }>((_context, { replyTo }) => {
      asked += 1
      notice()
      replyTo.tell("x".repeat(10_000))
      return Behaviors.same
    })
    node.system.spawn(answers, "generous")
    const before = await bytesInUse()
    const peer = await insider()
    peer.socket.pause()
    peer.send(name(0, node.path("generous")))
    const question = payloadOf({ replyTo: new RefText("") })
    for (let from = 0; from < 20_000; from += 1_000) {
      peer.send(...Array.from({ length: 1_000 }, (_, number) => request(0, from + number, question)))
    }
    await until("all are answered", () => asked === 20_000)
    expect(node.system.deadLetterCount).toBeGreaterThan(18_000)
    await until("dead letters are told", () => node.deadLetters.length === node.system.deadLetterCount)
    expect(new Set(node.deadLetters.map(({ reason }) => reason))).toEqual(new Set(["outbound-full"]))
    node.forget()
    expect(await grown(before)).toBeLessThan(24 * MIB)
  })

  it("by reconnecting under other names, each time quarantined, is small", async () => {
    const { node, insider } = await besiege({ quarantineMs: 3_600_000 })
    const come = async (times: number) => {
      for (let life = 0; life < times; life += 1) {
        const peer = await insider({ self: freshNode() })
        peer.send(frame(0xee))
        await peer.closed()
        peer.destroy()
      }
      await until("all are quarantined", () => node.quarantined.length === times)
      node.forget()
    }
    await come(20)
    const before = await bytesInUse()
    await come(200)
    expect(await grown(before)).toBeLessThan(2.5 * MIB)
  })

  it("by failed handshakes is released", async () => {
    const { node, stranger } = await besiege()
    const come = async (times: number) => {
      for (let count = 0; count < times; count += 1) {
        const peer = await stranger()
        peer.send(frame(PING))
        await peer.closed()
        peer.destroy()
      }
      await until("all are refused", () => node.refused.length === times)
      node.forget()
    }
    await come(20)
    const before = await bytesInUse()
    await come(200)
    expect(await grown(before)).toBeLessThan(MIB)
  })
})

/** Sends that many frames in batches, and waits until the node has handled the last. */
async function flood(
  node: Siege["node"],
  peer: RawPeer,
  count: number,
  make: (number: number) => Frame,
): Promise<void> {
  const { length } = node.deadLetters
  for (let from = 0; from < count; from += 100) {
    const frames = Array.from({ length: Math.min(100, count - from) }, (_, at) => make(from + at))
    peer.send(...frames)
    if (peer.socket.writableLength > MIB) {
      await until("the bytes have left", () => peer.socket.writableLength === 0 || peer.isClosed)
    }
  }
  peer.sent.length = 0
  peer.send(answer(NOT_ASKED, payloadOf("the end")))
  await until("all of it has been read", () => {
    return node.deadLetters.slice(length).some(({ message }) => message === "the end") || node.lost.length > 0
  })
  expect(node.lost).toEqual([])
  node.forget()
}

async function hangUp(node: Siege["node"], peer: RawPeer): Promise<void> {
  peer.destroy()
  await until("the node knows", () => node.lost.length > 0)
  node.forget()
}

async function grown(before: number): Promise<number> {
  return (await bytesInUse()) - before
}

function padded(text: string): string {
  return text.padEnd(MAX_NAME_BYTES, "x")
}

const NOT_ASKED = Number.MAX_SAFE_INTEGER

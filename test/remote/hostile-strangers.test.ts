import { describe, expect, it } from "vitest"
import { refusalCodes } from "../../src/remote/disconnect-reason.js"
import {
  ENVELOPE,
  HELLO,
  MAX_HANDSHAKE_BYTES,
  PING,
  PROOF,
  PROTOCOL_VERSION,
  REFUSED,
} from "../../src/remote/frames.js"
import { Handshake } from "../../src/remote/handshake.js"
import { InputBytes } from "../../src/serialization/input-bytes.js"
import { ManualClock } from "../fake/manual-clock.js"
import { freshNode, handshakeTerms, keysOf, type RawPeer } from "./support/raw-peer.js"
import { type Siege, sieges } from "./support/siege.js"
import { until } from "./support/until.js"
import { SECRET } from "./support/watched-node.js"
import { announcement, batch, type Frame, frame, name, oneWay, payloadOf } from "./support/wire.js"

const besiege = sieges()

describe("a peer that is not a node of the cluster", () => {
  it("of another version is refused", async () => {
    const { node, stranger } = await besiege()
    const peer = await stranger()
    const hello = helloTo(node)
    hello[4] = 99
    peer.send(frame(HELLO, hello))
    await refusedFor(node, "wrong-version")
    await until("it is told", () => peer.framesOf(REFUSED).length === 1)
    expect(node.refused[0]?.detail).toBe(`the peer has protocol version 99, this node ${PROTOCOL_VERSION}`)
  })

  it.each([
    ["another namespace", { namespace: "elsewhere", secret: SECRET }],
    ["another secret", { namespace: "besieged", secret: "another secret altogether" }],
    [
      "two other secrets",
      { namespace: "besieged", secret: ["another secret altogether", "and yet another"] },
    ],
    ["no secret", { namespace: "besieged", secret: undefined }],
  ])(
    "with %s is refused, and gets nothing that allows guessing passwords",
    async (_, { namespace, secret }) => {
      const { node, stranger } = await besiege()
      const peer = await stranger()
      const keys = keysOf({ namespace, secret })
      await expect(peer.shakeHands(node, { keys })).rejects.toThrow("the handshake failed: refused")
      await refusedFor(node, "wrong-secret")
      expect(peer.frames).toEqual([{ kind: REFUSED, fields: Buffer.of(refusalCodes.refused) }])
      expect(node.refused[0]?.detail).toContain(
        secret === undefined ? "the peer has no secret" : "another secret",
      )
    },
  )

  it.each([1, 4_095, 2 ** 30 + 1, 2 ** 53 - 1])(
    "that takes messages of %i bytes is refused",
    async (maxMessageBytes) => {
      const { node, stranger } = await besiege()
      await expect((await stranger()).shakeHands(node, { maxMessageBytes })).rejects.toThrow("wrong-limit")
      await refusedFor(node, "wrong-limit")
    },
  )

  it.each([
    ["codec", { codec: "other" }, "wrong-codec"],
    ["store", { store: "other" }, "wrong-store"],
  ])("with another %s is refused", async (_, terms, reason) => {
    const { node, stranger } = await besiege()
    await expect((await stranger()).shakeHands(node, terms)).rejects.toThrow(reason)
    await refusedFor(node, reason)
  })

  it("that dialled another node is refused", async () => {
    const { node, stranger } = await besiege()
    const peer = await stranger()
    const elsewhere = { ...node, authority: "127.0.0.1:1", namespace: node.namespace, secret: node.secret }
    await expect(peer.shakeHands(elsewhere)).rejects.toThrow("wrong-address")
    await refusedFor(node, "wrong-address")
  })

  it("that claims to be this node is refused", async () => {
    const { node, stranger } = await besiege()
    const self = node.system.node
    if (self === undefined) throw new Error("it listens")
    await expect((await stranger()).shakeHands(node, { self })).rejects.toThrow("self")
    await refusedFor(node, "self")
  })

  it("that continues with a wrong secret is refused at its proof", async () => {
    const { node, stranger } = await besiege()
    const peer = await stranger()
    const proof = await proofTo(node, peer)
    proof.fill(7, proof.length - 32)
    peer.send(frame(PROOF, proof), name(0, node.path("echo")), oneWay(0, payloadOf("in")))
    await refusedFor(node, "wrong-secret")
    expect(node.system.association(peerAddress)).toBeUndefined()
    expect(node.deadLetters).toEqual([])
  })

  it("that reflects the proof of the node is refused", async () => {
    const { node, stranger } = await besiege()
    const peer = await stranger()
    const proof = await proofTo(node, peer)
    proof.set(peer.frames[0]?.fields.subarray(-32) ?? [], proof.length - 32)
    peer.send(frame(PROOF, proof))
    await refusedFor(node, "wrong-secret")
    await until("it is told no more than that", () => peer.framesOf(REFUSED).length === 1)
    expect(peer.framesOf(REFUSED)[0]?.fields).toEqual(Buffer.of(refusalCodes.refused))
  })

  it("that replays a valid handshake, byte by byte, is refused", async () => {
    const { node, stranger, insider } = await besiege()
    const good = await insider()
    good.destroy()
    await until("the good one is gone", () => node.lost.length === 1)
    const peer = await stranger()
    for (const bytes of good.sent) peer.write(bytes)
    await refusedFor(node, "wrong-secret")
    expect(node.connected).toHaveLength(2)
  })

  it.each([
    ["a message", frame(ENVELOPE, Buffer.from([0, 0, 1]))],
    ["a ping", frame(PING)],
    ["a proof", frame(PROOF, Buffer.alloc(32))],
    ["a frame of no kind", frame(0xee)],
  ])("that begins with %s is refused", async (_, first) => {
    const { node, stranger } = await besiege()
    const peer = await stranger()
    peer.send(first)
    await refusedFor(node, "malformed")
    await peer.closed()
  })

  it("whose HELLO has trailing bytes is refused", async () => {
    const { node, stranger } = await besiege()
    const peer = await stranger()
    peer.send(frame(HELLO, helloTo(node), Buffer.from([0])))
    await refusedFor(node, "malformed")
  })

  it("whose name is not a node id is refused", async () => {
    const { node, stranger } = await besiege()
    const { hello } = Handshake.dialler(handshakeTerms(node), node.authority)
    const bytes = Buffer.from(hello.fields ?? [])
    bytes.write("#", bytes.indexOf("127.0.0.2"))
    const peer = await stranger()
    peer.send(frame(HELLO, bytes))
    await refusedFor(node, "malformed")
  })

  it("whose system name is invalid is refused", async () => {
    const { node, stranger } = await besiege()
    await expect((await stranger()).shakeHands(node, { system: "no name/@:" })).rejects.toThrow("malformed")
    await refusedFor(node, "malformed")
  })

  it("that announces more than a handshake needs is disconnected before it has sent it", async () => {
    const { node, stranger } = await besiege()
    const peer = await stranger()
    peer.write(announcement(MAX_HANDSHAKE_BYTES + 1))
    await refusedFor(node, "malformed")
    await peer.closed()
  })

  it("that sends garbage is disconnected", async () => {
    const { node, stranger } = await besiege()
    const garbage = [
      "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
      "\xff".repeat(10_000),
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00\x00",
    ]
    for (const text of garbage) (await stranger()).write(Buffer.from(text, "latin1"))
    await until("all are refused", () => node.refused.length === 3)
    expect(node.refused.map(({ reason }) => reason)).toEqual(["malformed", "malformed", "malformed"])
  })

  it("whose checksum is wrong is disconnected", async () => {
    const { node, stranger } = await besiege()
    const bytes = batch(frame(HELLO, helloTo(node)))
    bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20)
    const peer = await stranger()
    peer.write(bytes)
    await refusedFor(node, "malformed")
  })

  it.each([
    ["nothing", () => Buffer.alloc(0)],
    ["a length, and then nothing", () => announcement(1_000)],
    ["half a hello", (node: Siege["node"]) => batch(frame(HELLO, helloTo(node))).subarray(0, 40)],
    ["a hello, and no proof", (node: Siege["node"]) => batch(frame(HELLO, helloTo(node)))],
  ])("that sends %s is given five seconds", async (_, bytes) => {
    const clock = new ManualClock()
    const { node, stranger } = await besiege({}, { clock })
    const peer = await stranger()
    peer.write(bytes(node))
    await arrived(peer)
    await clock.advance(4_999)
    expect(node.refused).toEqual([])
    await clock.advance(1)
    await refusedFor(node, "handshake-timeout")
    await peer.closed()
  })

  it("that sends its HELLO byte by byte gets no more time", async () => {
    const clock = new ManualClock()
    const { node, honest, stranger } = await besiege({}, { clock })
    const peer = await stranger()
    const bytes = batch(frame(HELLO, helloTo(node)))
    for (let at = 0; at < 20; at += 1) {
      peer.write(bytes.subarray(at, at + 1))
      await arrived(peer)
      await clock.advance(249)
      await honest.more(1)
    }
    expect(node.refused).toEqual([])
    await clock.advance(20)
    await refusedFor(node, "handshake-timeout")
  })

  it("that disconnects or resets during its handshake leaves nothing behind", async () => {
    const { node, honest, stranger } = await besiege()
    for (let round = 0; round < 50; round += 1) {
      const peer = await stranger()
      peer.send(frame(HELLO, helloTo(node)))
      if (round % 2 === 0) await until("it is welcomed", () => peer.frames.length === 1)
      if (round % 3 === 0) peer.socket.resetAndDestroy()
      else peer.destroy()
    }
    await until("all are noticed", () => node.refused.length === 50)
    expect(new Set(node.refused.map(({ reason }) => reason))).toEqual(new Set(["ended", "unreachable"]))
    await honest.more(5)
  })

  it("that ends its half and keeps listening is disconnected", async () => {
    const { node, stranger } = await besiege()
    const peer = await stranger()
    peer.socket.end()
    await refusedFor(node, "ended")
    await peer.closed()
  })

  it("does not affect the established connection of another peer", async () => {
    const { node, stranger, insider } = await besiege()
    const good = await insider()
    const peer = await stranger()
    peer.write(Buffer.from("garbage that is long enough"))
    await refusedFor(node, "malformed")
    expect(good.isClosed).toBe(false)
  })
})

describe("a flood of unproven connections", () => {
  it("is limited to 512, the oldest evicted first, while nodes connect and disconnect", async () => {
    const { node, stranger, insider } = await besiege()
    const crowd: RawPeer[] = []
    for (let count = 0; count < 600; count += 1) crowd.push(await stranger())
    await until("they are thinned", () => node.refused.length >= 600 - 512)
    expect(new Set(node.refused.map(({ reason }) => reason))).toEqual(new Set(["crowded-out"]))
    await until("the oldest are closed", () => crowd.slice(0, 88).every(({ isClosed }) => isClosed))
    expect(crowd.slice(88).filter(({ isClosed }) => isClosed)).toEqual([])
    const good = await insider()
    expect(good.isClosed).toBe(false)
    expect(
      node.log.filter((line) => line.includes("an incoming connection was refused")).length,
    ).toBeLessThanOrEqual(10)
  })

  it("that was refused and stays connected is limited as well", async () => {
    const clock = new ManualClock()
    const { node, stranger } = await besiege({}, { clock })
    const before = sockets()
    for (let count = 0; count < 600; count += 1) (await stranger()).send(frame(PING))
    await until("all are refused", () => node.refused.length === 600)
    // Both ends are in this process: 600 of the peers, and those that the node keeps.
    await until("the node keeps 512 at most", () => sockets() - before - 600 <= 512, 3_000)
    await clock.advance(1_000)
    await until("the node keeps none", () => sockets() - before - 600 <= 0)
  })
})

function sockets(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length
}

const peerAddress = "127.0.0.2:4711"

function helloTo(node: Siege["node"], dialled = node.authority): Buffer {
  const { hello } = Handshake.dialler(handshakeTerms(node, { self: freshNode() }), dialled)
  return Buffer.from(hello.fields ?? [])
}

/** Makes the PROOF that a node sends after WELCOME. */
async function proofTo(node: Siege["node"], peer: RawPeer): Promise<Buffer> {
  const { handshake, hello } = Handshake.dialler(handshakeTerms(node), node.authority)
  peer.send(frame(HELLO, hello.fields ?? Buffer.alloc(0)))
  await until("it is welcomed", () => peer.frames.length === 1)
  const { kind, fields } = peer.frames[0] as Frame
  const { send } = handshake.receive(kind, new InputBytes(fields, 0, fields.length))
  return Buffer.from(send?.fields ?? [])
}

async function refusedFor(node: Siege["node"], reason: string): Promise<void> {
  await until(`somebody is refused for ${reason}`, () => node.refused.length > 0)
  expect(node.refused.map((event) => event.reason)).toEqual([reason])
  expect(node.refused[0]?.remote).toMatch(/^127\.0\.0\.1:\d+$/)
}

/** Resolves when the written bytes were sent, and the node has had a turn to read them. */
async function arrived({ socket }: RawPeer): Promise<void> {
  await until("the bytes have left", () => socket.writableLength === 0)
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

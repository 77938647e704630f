import { afterEach, describe, expect, it } from "vitest"
import { ENVELOPE, PROOF, READY, REFUSED, WELCOME } from "../../src/remote/frames.js"
import { nodeDigest } from "../../src/runtime/node-digest.js"
import { ManualClock } from "../fake/manual-clock.js"
import { RawListener } from "./support/raw-listener.js"
import { freshNode, type RawPeer } from "./support/raw-peer.js"
import { type Siege, sieges } from "./support/siege.js"
import { until } from "./support/until.js"
import { frame } from "./support/wire.js"

const besiege = sieges()
const listeners: RawListener[] = []
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.stop()
})

describe("a listener at an address that a node dials", () => {
  const answers: [what: string, say: (peer: RawPeer) => void, reason: string][] = [
    [
      "speaks something else",
      (peer) => peer.write(Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")),
      "malformed",
    ],
    ["hangs up", (peer) => peer.socket.end(), "ended"],
    ["resets", (peer) => peer.socket.resetAndDestroy(), "unreachable"],
    ["is ready before it was welcome", (peer) => peer.send(frame(READY)), "malformed"],
    ["sends a message first", (peer) => peer.send(frame(ENVELOPE, Buffer.from([0, 0, 1]))), "malformed"],
    ["sends an empty welcome", (peer) => peer.send(frame(WELCOME)), "malformed"],
    ["speaks another version", (peer) => peer.send(frame(WELCOME, Buffer.from([99]))), "wrong-version"],
    ["refuses for no reason", (peer) => peer.send(frame(REFUSED)), "malformed"],
    [
      "refuses for a reason that is not known",
      (peer) => peer.send(frame(REFUSED, Buffer.from([99]))),
      "malformed",
    ],
    ["refuses", (peer) => peer.send(frame(REFUSED, Buffer.from([1]))), "refused"],
    [
      "refuses the codec, whose word is good for nothing",
      (peer) => peer.send(frame(REFUSED, Buffer.from([3]))),
      "wrong-codec",
    ],
    [
      "says that this node was removed, without a proof",
      (peer) => peer.send(frame(REFUSED, Buffer.from([13]))),
      "removed",
    ],
  ]
  it.each(answers)("and %s is tried again later", async (_, say, reason) => {
    const { node, listener } = await dialling()
    say(await listener.dialled())
    await failedFor(node, listener, reason)
    expect(node.system.association(listener.authority)).toBe("unresolved")
    expect(node.quarantined).toEqual([])
  })

  it("that sends nothing is given five seconds", async () => {
    const clock = new ManualClock()
    const { node, listener } = await dialling(clock)
    await listener.dialled()
    await clock.advance(4_999)
    expect(node.failed).toEqual([])
    await clock.advance(1)
    await failedFor(node, listener, "handshake-timeout")
  })

  it("that has another secret is quarantined, and gets no proof", async () => {
    const { node, listener } = await dialling()
    const peer = await listener.dialled()
    await listener.shakeHands(peer, node, {
      keys: [Buffer.from("another key altogether")],
      digest: { ...nodeDigest, equal: () => true },
    })
    await until("it is quarantined", () => node.quarantined.length > 0)
    expect(node.quarantined.map(({ authority, reason }) => [authority, reason])).toEqual([
      [listener.authority, expect.stringContaining("its proof of the secret is wrong")],
    ])
    expect(peer.framesOf(PROOF)).toEqual([])
    await until("what waited is refused", () => node.deadLetters.length === 1)
    expect(node.deadLetters[0]?.reason).toBe("quarantined")
  })

  it("that advertises another address is not accepted for the dialled one", async () => {
    const { node, listener } = await dialling()
    const peer = await listener.dialled()
    await listener
      .shakeHands(peer, { ...node, authority: listener.authority }, { self: freshNode() })
      .catch(() => {})
    await until("the node has judged", () => node.failed.length > 0)
    expect(node.failed[0]?.reason).toBe("wrong-address")
    expect(node.connected.map(({ authority }) => authority)).not.toContain(listener.authority)
  })

  it("that violates the protocol once connected is quarantined", async () => {
    const { node, listener } = await dialling()
    const peer = await listener.dialled()
    await listener.shakeHands(peer, node)
    await until("the message arrives", () => peer.messages.length === 1)
    expect(peer.messages[0]?.message).toBe("hello?")
    peer.send(frame(0xee))
    await until("it is quarantined", () => node.quarantined.length > 0)
    expect(node.quarantined[0]?.reason).toBe("unknown frame kind 238")
  })
})

/** Starts a node that has a message for the address of the listener. */
async function dialling(clock?: ManualClock) {
  const listener = await RawListener.start()
  listeners.push(listener)
  const { node } = await besiege(
    { reconnect: { fromMs: 60_000, toMs: 60_000 } },
    clock === undefined ? {} : { clock },
  )
  node.system.resolve<string>(`troupe.tcp://besieged@${listener.authority}/user/x`).tell("hello?")
  return { node, listener }
}

async function failedFor(node: Siege["node"], listener: RawListener, reason: string): Promise<void> {
  await until("the dial has failed", () => node.failed.length > 0)
  expect(node.failed.map((event) => [event.authority, event.reason, event.attempts])).toEqual([
    [listener.authority, reason, 1],
  ])
}

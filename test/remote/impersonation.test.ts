import { afterEach, describe, expect, it } from "vitest"
import { type ActorRef, Behaviors, DeadLetter, NodeId } from "../../src/index.js"
import { ALIVE, PROBE } from "../../src/remote/frames.js"
import { ca, node as certified } from "../certificates/certificates.js"
import { ManualClock } from "../fake/manual-clock.js"
import { freshNode, RawPeer } from "./support/raw-peer.js"
import { recorded, until } from "./support/until.js"
import { type Question, SECRET, WatchedNode } from "./support/watched-node.js"
import { frame, name, oneWay, payloadOf } from "./support/wire.js"

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

describe("a peer that knows the secret and claims to be another node", () => {
  it("is refused while that node answers on its connection, which stays open", async () => {
    const [a, c] = [await start(), await start()]
    expect(await ask(c, a, "I am c")).toBe("I am c")
    const impostor = await RawPeer.connect(a)
    stops.push(() => impostor.destroy())
    await expect(impostor.shakeHands(a, { self: c.system.node as NodeId })).rejects.toThrow("occupied")
    await until("it is told", () => a.refused.length > 0)
    expect(a.refused.map(({ reason }) => reason)).toEqual(["occupied"])
    expect(a.lost).toEqual([])
    expect(await ask(a, c, "still you?")).toBe("still you?")
  })

  it("is also refused when it claims to be the next incarnation of that node", async () => {
    const [a, c] = [await start(), await start()]
    expect(await ask(c, a, "I am c")).toBe("I am c")
    const { host, port } = c.system.node as NodeId
    const impostor = await RawPeer.connect(a)
    stops.push(() => impostor.destroy())
    await expect(
      impostor.shakeHands(a, { self: NodeId.of(host, port, freshNode().incarnation) }),
    ).rejects.toThrow("occupied")
    expect(a.lost).toEqual([])
  })

  it("replaces the connection of that node once that node does not answer", async () => {
    const clock = new ManualClock()
    const a = await start({}, clock)
    const first = await RawPeer.admitted(a)
    stops.push(() => first.destroy())
    const self = (a.connected[0] as { node: NodeId }).node
    const second = await RawPeer.connect(a)
    stops.push(() => second.destroy())
    let isIn = false
    const shaken = second.shakeHands(a, { self }).then(() => {
      isIn = true
    })
    await until("the old connection is asked", () => first.framesOf(PROBE).length === 1)
    await clock.advance(1_499)
    expect(isIn).toBe(false)
    await clock.advance(1)
    await shaken
    expect(a.lost.map(({ reason }) => reason)).toEqual(["replaced"])
    await first.closed()
  })

  it("is admitted at once if the connection of that node has ended when it is probed", async () => {
    const clock = new ManualClock()
    const a = await start({}, clock)
    const first = await RawPeer.admitted(a)
    const self = (a.connected[0] as { node: NodeId }).node
    const second = await RawPeer.connect(a)
    stops.push(() => second.destroy())
    const shaken = second.shakeHands(a, { self })
    await until("the old connection is asked", () => first.framesOf(PROBE).length === 1)
    first.destroy()
    await shaken
    expect(a.connected).toHaveLength(2)
  })

  it("is not admitted if its own connection ends before the old one is given up", async () => {
    const clock = new ManualClock()
    const a = await start({}, clock)
    const first = await RawPeer.admitted(a)
    stops.push(() => first.destroy())
    const self = (a.connected[0] as { node: NodeId }).node
    const second = await RawPeer.connect(a)
    const shaken = second.shakeHands(a, { self })
    await until("the old connection is asked", () => first.framesOf(PROBE).length === 1)
    second.destroy()
    await expect(shaken).rejects.toThrow("closed the connection")
    await until("its end is seen", () => a.refused.length === 1)
    await clock.advance(1_500)
    expect(a.connected).toHaveLength(1)
    expect(a.lost).toEqual([])
    const third = await RawPeer.connect(a)
    stops.push(() => third.destroy())
    const shakenAgain = third.shakeHands(a, { self })
    await until("the old connection is asked again", () => first.framesOf(PROBE).length === 2)
    await clock.advance(1_500)
    await shakenAgain
    expect(a.lost.map(({ reason }) => reason)).toEqual(["replaced"])
  })

  it("is answered with ALIVE, as a node is", async () => {
    const a = await start()
    const peer = await RawPeer.admitted(a)
    stops.push(() => peer.destroy())
    peer.send(frame(PROBE), frame(PROBE))
    await until("it is answered", () => peer.framesOf(ALIVE).length === 2)
  })

  it("can have a node quarantined by a violation under its name, for minutes and not for days", async () => {
    const a = await start()
    const peer = await RawPeer.admitted(a)
    stops.push(() => peer.destroy())
    peer.send(frame(0xee))
    await until("it is quarantined", () => a.quarantined.length === 1)
    expect(a.quarantined[0]?.durationMs).toBe(300_000)
    a.system.quarantine("10.9.9.9:1", "by hand")
    await until("it is quarantined", () => a.quarantined.length === 2)
    expect(a.quarantined[1]?.durationMs).toBe(5 * 24 * 3_600_000)
  })
})

describe("with mutual TLS", () => {
  const tls = { ...certified, ca, mutual: true }

  it("a node whose certificate does not name the host that it advertises is refused", async () => {
    const a = await start({ tls })
    const liar = await start({ tls }, undefined, { host: "vault.prod.internal", port: 25_520 })
    await expect(ask(liar, a, "open", 500)).rejects.toMatchObject({ delivery: "not-delivered" })
    await until("it is refused", () => a.refused.length > 0 && liar.failed.length > 0)
    expect(a.refused[0]).toMatchObject({
      reason: "wrong-certificate",
      detail: "its certificate does not name vault.prod.internal",
    })
    expect(liar.failed[0]?.reason).toBe("wrong-certificate")
    expect(a.connected).toEqual([])
  })

  it("a node whose certificate names its host, or listen.tls.serverName, is admitted", async () => {
    const a = await start({ tls })
    const named = await start({ tls }, undefined, { host: "localhost" })
    expect(await ask(named, a, "open")).toBe("open")
    const common = { ...tls, serverName: "troupe.test" }
    const b = await start({ tls: common })
    const elsewhere = await start({ tls: common }, undefined, { host: "vault.prod.internal", port: 25_520 })
    expect(await ask(elsewhere, b, "open")).toBe("open")
  })
})

describe("a peer that knows the secret and was not asked", () => {
  it("cannot answer a question to another node by guessing its path", async () => {
    const [a, b] = [await start(), await start()]
    const keeper = keep(b)
    const far = a.system.resolve<Question>(keeper.path)
    const asked = a.system.ask<Question, string>(far, (replyTo) => ({ text: "who?", replyTo }))
    await until("it has come", () => keeper.held.length === 1)
    const { incarnation } = a.system.node as NodeId
    const ofLife = Number.parseInt(incarnation.slice(3), 16) + 1
    const guesses = Array.from({ length: 40 }, (_, count) =>
      ["", "#1", "#2", `#${ofLife}`].map((uid) => `$~${count.toString(36)}${uid}`),
    )
    await forge(a, guesses.flat())
    keeper.held[0]?.tell("b")
    expect(await asked).toBe("b")
  })

  it("cannot answer a question within a node whose path was given to another node", async () => {
    const [a, b] = [await start(), await start()]
    const keeper = keep(b)
    const far = a.system.resolve<Question>(keeper.path)
    const near = a.system.spawn(
      Behaviors.receive<Question>((_context, message) => {
        far.tell(message)
        return Behaviors.same
      }),
    )
    const asked = a.system.ask<Question, string>(near, (replyTo) => ({ text: "who?", replyTo }))
    await until("it has come", () => keeper.held.length === 1)
    const { uid = 0 } = near.path
    const names = Array.from({ length: 20 }, (_, count) => `$${count.toString(36)}`)
    const uids = Array.from({ length: 20 }, (_, count) => uid + count - 10)
    await forge(
      a,
      names.flatMap((one) => [one, ...uids.map((other) => `${one}#${other}`)]),
    )
    keeper.held[0]?.tell("b")
    expect(await asked).toBe("b")
  })

  it("may answer if an actor has passed the reply ref on to it", async () => {
    const [a, b, c] = [await start(), await start(), await start()]
    const third = keep(c)
    const toThird = b.system.resolve<Question>(third.path)
    const middle = b.system.spawn(
      Behaviors.receive<Question>((_context, message) => {
        toThird.tell(message)
        return Behaviors.same
      }),
      "middle",
    )
    const far = a.system.resolve<Question>(middle.path.toString())
    const asked = a.system.ask<Question, string>(far, (replyTo) => ({ text: "who?", replyTo }))
    await until("it has come", () => third.held.length === 1)
    third.held[0]?.tell("c")
    expect(await asked).toBe("c")
  })
})

/** Answers at each of these paths, and returns when all answers have arrived. */
async function forge(to: WatchedNode, places: readonly string[]): Promise<void> {
  const forger = await RawPeer.admitted(to)
  stops.push(() => forger.destroy())
  const root = `${to.system.address}/system/temp/`
  for (const [number, place] of places.entries()) {
    forger.send(name(number, root + place), oneWay(number, payloadOf("forged")))
  }
  const last = new Promise<void>((resolve) => {
    to.system.events.subscribe(DeadLetter, ({ message }) => message === "the last" && resolve())
  })
  forger.send(
    name(places.length, `${to.system.address}/user/nobody`),
    oneWay(places.length, payloadOf("the last")),
  )
  await last
}

function keep(on: WatchedNode): { readonly path: string; readonly held: ActorRef<string>[] } {
  const held = recorded<ActorRef<string>>()
  const behavior = Behaviors.receive<Question>((_context, { replyTo }) => {
    held.push(replyTo)
    return Behaviors.same
  })
  return { path: on.system.spawn(behavior, "keeper").path.toString(), held }
}

async function start(
  { tls }: { tls?: typeof certified } = {},
  clock?: ManualClock,
  advertise?: { host: string; port?: number },
): Promise<WatchedNode> {
  const node = await WatchedNode.start(
    {
      listen: { host: "127.0.0.1", port: 0, secret: SECRET, ...(tls === undefined ? {} : { tls }) },
      reconnect: { fromMs: 10, toMs: 50 },
      ...(advertise === undefined ? {} : { advertise }),
    },
    clock === undefined ? {} : { clock },
  )
  stops.push(() => node.stop())
  return node
}

function ask(from: WatchedNode, to: WatchedNode, text: string, timeoutMs = 10_000): Promise<string> {
  const echo = from.system.resolve<Question>(to.path("echo"))
  return from.system.ask<Question, string>(echo, (replyTo) => ({ text, replyTo }), { timeoutMs })
}

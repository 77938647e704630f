import { expect, onTestFinished, test } from "vitest"
import { NodeId } from "../../src/address/node-id.js"
import {
  type ActorRef,
  type ActorSystem,
  AssociationConnected,
  AssociationLost,
  type Behavior,
  Behaviors,
  CallError,
  ConnectionRefused,
  DeadLetter,
  Terminated,
} from "../../src/index.js"
import { ENVELOPE, HELLO, READY, WELCOME } from "../../src/remote/frames.js"
import { nodeRandom } from "../../src/runtime/node-random.js"
import { remotingOf } from "../../workloads/remoting/remoting-of.js"
import { SECRET, startNode, type TestNode } from "./nodes.js"
import { RawListener } from "./support/raw-listener.js"
import { RawPeer } from "./support/raw-peer.js"
import { notice, recorded, until } from "./support/until.js"

/** Longer than any test takes, so that a delay before a dial makes the test fail. */
const NO_SECOND_DIAL = { reconnect: { fromMs: 600_000, toMs: 600_000 } }

test("continues as another node at the same address, and reconnects without a delay", async () => {
  const { a, b } = await connected()
  const before = a.system.node as NodeId
  const lost = a.event(AssociationLost)
  const met = b.event(AssociationConnected)
  const after = reincarnate(a.system)
  expect(a.system.node).toBe(after)
  expect(after.address).toBe(before.address)
  expect((await lost).reason).toBe("reincarnated")
  expect((await met).node.equals(after)).toBe(true)
})

test("refuses another address, and the same incarnation", async () => {
  const { a } = await connected()
  const { system } = a
  const node = system.node as NodeId
  const elsewhere = NodeId.fresh("127.0.0.1", 1, nodeRandom)
  expect(() => remotingOf(system).reincarnate(elsewhere)).toThrow(TypeError)
  expect(() => remotingOf(system).reincarnate(NodeId.parse(`${node}`))).toThrow(TypeError)
  expect(system.node).toBe(node)
})

test("a question that was sent fails as unknown at once, and its answer is dropped", async () => {
  const { a, b, far } = await connected()
  const lost = fate(a.system.ask<ToKeeper, string>(far, (replyTo) => ({ kind: "hold", replyTo })))
  await echo(a, far, "and it has arrived")
  reincarnate(a.system)
  expect(await lost).toBe("NodeUnreachable unknown")
  const dead = b.event(DeadLetter)
  far.tell({ kind: "answer", value: "too late" })
  expect(await dead).toMatchObject({ message: "too late", reason: "ask-ended" })
})

test("an answer to the previous incarnation through a third node matches no question of the next", async () => {
  const { a, b, far } = await connected()
  const c = await startNode(NO_SECOND_DIAL)
  const third = c.system.spawn(keeper(), "keeper")
  const toThird = b.system.resolve<ToKeeper>(third.path.toString())
  const lost = fate(
    a.system.ask<ToKeeper, string>(far, (replyTo) => ({ kind: "pass-on", to: toThird, replyTo })),
  )
  await echo(a, far, "it has been passed on")
  await echo(b, toThird, "and has arrived")
  reincarnate(a.system)
  expect(await lost).toBe("NodeUnreachable unknown")
  const held = fate(
    a.system.ask<ToKeeper, string>(far, (replyTo) => ({ kind: "hold", replyTo }), { timeoutMs: 30_000 }),
  )
  const dead = a.event(DeadLetter)
  third.tell({ kind: "answer", value: "to whom?" })
  expect(await dead).toMatchObject({ message: "to whom?", reason: "old-incarnation" })
  far.tell({ kind: "answer", value: "yours" })
  expect(await held).toBe("yours")
})

test("the answer to a received question is dropped, and its asker is notified at once", async () => {
  const { a, b } = await connected()
  const near = a.system.spawn(keeper(), "near")
  const far = b.system.resolve<ToKeeper>(near.path.toString())
  const lost = fate(b.system.ask<ToKeeper, string>(far, (replyTo) => ({ kind: "hold", replyTo })))
  await echo(b, far, "and it has arrived")
  reincarnate(a.system)
  expect(await lost).toBe("NodeUnreachable unknown")
  const dead = a.event(DeadLetter)
  near.tell({ kind: "answer", value: "for the last life" })
  expect(await dead).toMatchObject({ message: "for the last life", reason: "ask-ended" })
})

test("queued messages are kept, and sent in order before later ones", async () => {
  const { a, b, far } = await connected()
  a.unplug()
  await a.event(AssociationLost)
  for (let count = 1; count <= 50; count += 1) far.tell({ kind: "note", value: count })
  const first = notes(a, far)
  a.plugIn()
  expect(a.system.association(b.authority)).toBe("unresolved")
  reincarnate(a.system)
  for (let count = 51; count <= 100; count += 1) far.tell({ kind: "note", value: count })
  expect(await first).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
  expect(await notes(a, far)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
})

test("messages queued for a peer that does not read are kept too, from the first unsent one", async () => {
  const a = await startNode(NO_SECOND_DIAL)
  const listener = await RawListener.start()
  onTestFinished(() => listener.stop())
  const dialler = { authority: a.authority, namespace: "test", secret: SECRET }
  const far = a.system.resolve<number[]>(`troupe.tcp://test@${listener.authority}/user/anybody`)
  far.tell([0])
  const first = await listener.dialled()
  await listener.shakeHands(first, dialler)
  await until("the first has come", () => first.messages.length === 1)
  first.socket.pause()
  const large = new Array<number>(10_000).fill(0.1)
  const last = 150
  for (let count = 1; count <= last; count += 1) {
    far.tell([count, ...large])
    await new Promise((resolve) => setImmediate(resolve))
  }
  reincarnate(a.system)
  far.tell([last + 1])
  await until("it dials again", () => (listener.peers[1]?.frames.length ?? 0) > 0)
  const second = listener.peers[1] as RawPeer
  await listener.shakeHands(second, dialler)
  // The only small message.
  await until("the last has come", () => (second.framesOf(ENVELOPE).at(-1)?.fields.length ?? 1_000) < 1_000)
  const numbers = second.messages.map(({ message }) => (message as number[])[0] as number)
  const [from = 0] = numbers
  expect(numbers).toEqual(Array.from({ length: last + 2 - from }, (_, index) => from + index))
  expect(from).toBeGreaterThan(1)
  expect(from).toBeLessThan(last)
  expect(a.deadLetters).toEqual([])
})

test("watches of remote actors continue", async () => {
  const { a, b, far } = await connected()
  const ends = recorded<Terminated>()
  watching(a.system, far, ends)
  await echo(a, far, "and it is watched")
  const met = b.event(AssociationConnected)
  reincarnate(a.system)
  await met
  await echo(a, far, "still there")
  expect(ends).toEqual([])
  far.tell({ kind: "stop" })
  await until("its end is told", () => ends.length > 0)
  expect(ends[0]?.cause).toBeUndefined()
})

test("watches by other nodes end, and the watched actors continue", async () => {
  const { a, b } = await connected()
  const near = a.system.spawn(keeper(), "near")
  const far = b.system.resolve<ToKeeper>(near.path.toString())
  const ends = recorded<Terminated>()
  watching(b.system, far, ends)
  await echo(b, far, "and it is watched")
  reincarnate(a.system)
  await until("its end is told", () => ends.length > 0)
  expect(ends[0]?.cause).toBeUndefined()
  expect(await echo(b, far, "still there")).toBe("still there")
  await a.system.stopActor(near)
  const other = a.system.spawn(keeper(), "other")
  await echo(b, b.system.resolve(other.path.toString()), "whatever was told before has come")
  expect(ends.length).toBe(1)
})

test("a node that quarantined the previous incarnation connects to the next", async () => {
  const { a, b, far } = await connected()
  b.system.quarantine(a.authority, "for a test")
  await a.event(AssociationLost)
  reincarnate(a.system)
  expect(await echo(a, far, "here again")).toBe("here again")
})

test("a handshake with the previous incarnation is closed, and the next one uses the new id", async () => {
  const a = await startNode()
  const to = { authority: a.authority, namespace: "test", secret: SECRET }
  const peer = await RawPeer.connect(to)
  onTestFinished(() => peer.destroy())
  const refused = a.event(ConnectionRefused)
  const shaken = peer.shakeHands(to, {
    judge: () => {
      reincarnate(a.system)
      return undefined
    },
  })
  await expect(shaken).rejects.toThrow("the node closed the connection")
  expect((await refused).reason).toBe("reincarnated")
  expect(peer.framesOf(READY)).toEqual([])
  const again = await RawPeer.admitted(to)
  onTestFinished(() => again.destroy())
  expect(again.framesOf(WELCOME)[0]?.fields.includes(`${a.system.node}`)).toBe(true)
})

test("a dial of the previous incarnation is cancelled, and the next one dials at once", async () => {
  const a = await startNode(NO_SECOND_DIAL)
  const listener = await RawListener.start()
  onTestFinished(() => listener.stop())
  const before = `${a.system.node}`
  a.system.resolve<string>(`troupe.tcp://test@${listener.authority}/user/anybody`).tell("hello")
  const first = await listener.dialled()
  expect(first.framesOf(HELLO)[0]?.fields.includes(before)).toBe(true)
  reincarnate(a.system)
  await first.closed()
  await until("it dials again", () => (listener.peers[1]?.frames.length ?? 0) > 0)
  expect(listener.peers[1]?.framesOf(HELLO)[0]?.fields.includes(`${a.system.node}`)).toBe(true)
  expect(listener.peers.length).toBe(2)
})

test("under traffic in both directions every question ends once, with its own answer or an error", async () => {
  const settings = { reconnect: { fromMs: 1, toMs: 5 } }
  const nodes = [await startNode(settings), await startNode(settings)] as const
  const keepers = nodes.map(({ system }) => system.spawn(keeper(), "keeper"))
  const outcomes = new Map<string, number>()
  let isOver = false
  const asking = nodes.flatMap((node, place) => {
    const far = node.system.resolve<ToKeeper>(`${keepers[1 - place]?.path}`)
    return Array.from({ length: 8 }, async (_, asker) => {
      for (let count = 0; !isOver; count += 1) {
        const value = `${place} ${asker} ${count}`
        const outcome = await fate(echo(node, far, value))
        const kind = outcome === value ? "answered" : `${outcome}`
        outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1)
        notice()
        await new Promise((resolve) => setImmediate(resolve))
      }
    })
  })
  const answered = () => outcomes.get("answered") ?? 0
  for (let life = 0; life < 100; life += 1) {
    const enough = answered() + (life % 3) * 10
    await until("more is answered", () => answered() >= enough)
    reincarnate((nodes[life % 2] as TestNode).system)
  }
  const enough = answered() + 100
  await until("all is well again", () => answered() > enough)
  isOver = true
  await Promise.all(asking)
  outcomes.delete("answered")
  expect(outcomes.get("NodeUnreachable unknown")).toBeGreaterThan(0)
  outcomes.delete("NodeUnreachable unknown")
  expect([...outcomes.keys()]).toEqual([])
})

type ToKeeper =
  | { readonly kind: "echo"; readonly value: string; readonly replyTo: ActorRef<string> }
  | { readonly kind: "hold"; readonly replyTo: ActorRef<string> }
  | { readonly kind: "pass-on"; readonly to: ActorRef<ToKeeper>; readonly replyTo: ActorRef<string> }
  /** Answers the question that it holds. */
  | { readonly kind: "answer"; readonly value: string }
  | { readonly kind: "note"; readonly value: number }
  | { readonly kind: "notes"; readonly replyTo: ActorRef<number[]> }
  | { readonly kind: "stop" }

function keeper(): Behavior<ToKeeper> {
  const notes: number[] = []
  let held: ActorRef<string> | undefined
  return Behaviors.receive<ToKeeper>((_context, message) => {
    switch (message.kind) {
      case "echo":
        message.replyTo.tell(message.value)
        return Behaviors.same
      case "hold":
        held = message.replyTo
        return Behaviors.same
      case "pass-on":
        message.to.tell({ kind: "hold", replyTo: message.replyTo })
        return Behaviors.same
      case "answer":
        held?.tell(message.value)
        return Behaviors.same
      case "note":
        notes.push(message.value)
        return Behaviors.same
      case "notes":
        message.replyTo.tell([...notes])
        return Behaviors.same
      case "stop":
        return Behaviors.stopped
    }
  })
}

/** Connects two nodes, neither of which dials again after a failure; `far` is on `b`. */
async function connected(): Promise<{ a: TestNode; b: TestNode; far: ActorRef<ToKeeper> }> {
  const a = await startNode(NO_SECOND_DIAL)
  const b = await startNode(NO_SECOND_DIAL)
  const ref = b.system.spawn(keeper(), "keeper")
  const far = a.system.resolve<ToKeeper>(ref.path.toString())
  await echo(a, far, "connect")
  return { a, b, far }
}

function reincarnate(system: ActorSystem): NodeId {
  const { host, port } = system.node as NodeId
  const next = NodeId.fresh(host, port, nodeRandom)
  remotingOf(system).reincarnate(next)
  return next
}

function echo({ system }: TestNode, far: ActorRef<ToKeeper>, value: string): Promise<string> {
  return system.ask<ToKeeper, string>(far, (replyTo) => ({ kind: "echo", value, replyTo }))
}

function notes({ system }: TestNode, far: ActorRef<ToKeeper>): Promise<number[]> {
  return system.ask<ToKeeper, number[]>(far, (replyTo) => ({ kind: "notes", replyTo }))
}

/** Returns the answer, or the delivery of a call error. */
function fate(asked: Promise<string>): Promise<string> {
  return asked.catch((error: unknown) => {
    if (error instanceof CallError) return `${error.code} ${error.delivery}`
    throw error
  })
}

function watching(system: ActorSystem, ref: ActorRef<ToKeeper>, ends: Terminated[]): void {
  system.spawn(
    Behaviors.setup<never>((context) => {
      context.watch(ref)
      return Behaviors.receive<never>(
        () => Behaviors.same,
        (_context, signal) => {
          if (signal instanceof Terminated) ends.push(signal)
          return Behaviors.same
        },
      )
    }),
  )
}

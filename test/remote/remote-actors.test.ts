import { expect, test } from "vitest"
import {
  type ActorRef,
  AssociationConnected,
  AssociationFailed,
  AssociationLost,
  type Behavior,
  Behaviors,
  DeadLetter,
  InvalidAssociation,
  InvalidMessageError,
  NodeUnreachableError,
  PathResolutionError,
  Terminated,
  TimeoutError,
} from "../../src/index.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { startTestSystem } from "../fake/test-system.js"
import { SECRET, startNode, type TestNode } from "./nodes.js"

type Message =
  | { readonly kind: "echo"; readonly value: unknown; readonly replyTo: ActorRef<unknown> }
  | { readonly kind: "note"; readonly value: unknown }
  | { readonly kind: "notes"; readonly replyTo: ActorRef<unknown> }
  | { readonly kind: "hold"; readonly replyTo: ActorRef<unknown> }
  | { readonly kind: "pass-on"; readonly to: ActorRef<Message>; readonly replyTo: ActorRef<unknown> }
  | { readonly kind: "stop" }
  | { readonly kind: "fail" }

/** Records its messages, and answers its questions. */
const keeper: Behavior<Message> = Behaviors.setup(() => {
  const notes: unknown[] = []
  return Behaviors.receive<Message>((_context, message) => {
    switch (message.kind) {
      case "echo":
        message.replyTo.tell(message.value)
        return Behaviors.same
      case "note":
        notes.push(message.value)
        return Behaviors.same
      case "notes":
        message.replyTo.tell([...notes])
        return Behaviors.same
      case "pass-on":
        message.to.tell({ kind: "echo", value: "from the third", replyTo: message.replyTo })
        return Behaviors.same
      case "hold":
        return Behaviors.same
      case "stop":
        return Behaviors.stopped
      case "fail":
        throw new RangeError("as told")
    }
  })
})

async function twoNodes(): Promise<{
  a: TestNode
  b: TestNode
  ref: ActorRef<Message>
  far: ActorRef<Message>
}> {
  const a = await startNode()
  const b = await startNode()
  const ref = b.system.spawn(keeper, "keeper")
  return { a, b, ref, far: a.system.resolve<Message>(ref.path.toString()) }
}

function echo(node: TestNode, far: ActorRef<Message>, value: unknown, timeoutMs = 5_000): Promise<unknown> {
  return node.system.ask<Message, unknown>(far, (replyTo) => ({ kind: "echo", value, replyTo }), {
    timeoutMs,
  })
}

function notes(node: TestNode, far: ActorRef<Message>): Promise<unknown> {
  return node.system.ask<Message, unknown>(far, (replyTo) => ({ kind: "notes", replyTo }))
}

function hold(node: TestNode, far: ActorRef<Message>, timeoutMs = 5_000): Promise<unknown> {
  return node.system.ask<Message, unknown>(far, (replyTo) => ({ kind: "hold", replyTo }), { timeoutMs })
}

test("a remote actor is told and asked like a local one", async () => {
  const { a, far } = await twoNodes()
  far.tell({ kind: "note", value: new Map([["when", new Date(0)]]) })
  expect(await echo(a, far, { big: 2n ** 70n, bytes: Uint8Array.of(1, 2) })).toEqual({
    big: 2n ** 70n,
    bytes: Uint8Array.of(1, 2),
  })
  expect(await notes(a, far)).toEqual([new Map([["when", new Date(0)]])])
})

test("a ref in a message can be used to reply, and is the same actor on its own node", async () => {
  const { a, b, far } = await twoNodes()
  const near = a.system.spawn(keeper, "near")
  const passed = (await echo(a, far, near)) as ActorRef<Message>
  passed.tell({ kind: "note", value: "home again" })
  expect(await notes(a, near)).toEqual(["home again"])
  const reached = b.system.resolve<Message>(near.path.toString())
  reached.tell({ kind: "note", value: "from afar" })
  await echo(b, reached, 1)
  expect(await notes(a, near)).toEqual(["home again", "from afar"])
})

test("an actor that is given replyTo may answer from any node", async () => {
  const { a, b, far } = await twoNodes()
  const c = await startNode()
  const third = c.system.spawn(keeper, "third")
  await echo(b, b.system.resolve(third.path.toString()), "connect")
  const answer = await a.system.ask<Message, unknown>(far, (replyTo) => ({
    kind: "pass-on",
    to: a.system.resolve<Message>(third.path.toString()),
    replyTo,
  }))
  expect(answer).toBe("from the third")
})

test("messages sent before the node is up wait for it, in order", async () => {
  const probe = await startNode()
  const { authority } = probe
  await probe.system.stop()
  const a = await startNode()
  const far = a.system.resolve<Message>(`troupe.tcp://test@${authority}/user/keeper`)
  const mutable = { value: "as it was" }
  far.tell({ kind: "note", value: mutable })
  mutable.value = "changed afterwards"
  for (let count = 1; count <= 100; count += 1) far.tell({ kind: "note", value: count })
  const asked = notes(a, far)
  const port = Number(authority.split(":")[1])
  const b = await startNode({ listen: { host: "127.0.0.1", port, secret: SECRET } })
  b.system.spawn(keeper, "keeper")
  expect(await asked).toEqual([
    { value: "as it was" },
    ...Array.from({ length: 100 }, (_, index) => index + 1),
  ])
})

test("messages beyond the limit of the queue are refused", async () => {
  const a = await startNode({ deferred: { perAuthority: 3, total: 5 } })
  a.unplug()
  const ones = a.system.resolve<Message>("troupe.tcp://test@127.0.0.1:1/user/x")
  const twos = a.system.resolve<Message>("troupe.tcp://test@127.0.0.1:2/user/x")
  for (const value of [1, 2, 3, 4]) ones.tell({ kind: "note", value })
  for (const value of [5, 6, 7]) twos.tell({ kind: "note", value })
  await expect(echo(a, twos, 8)).rejects.toMatchObject({ code: "Overloaded", delivery: "not-delivered" })
  await a.event(DeadLetter, () => a.deadLetters.length >= 2)
  expect(a.deadLetters.map(({ message, reason }) => [(message as { value: number }).value, reason])).toEqual([
    [4, "deferred-full"],
    [7, "deferred-full"],
  ])
})

test("an ask that timed out in the queue was not delivered, and never is", async () => {
  const a = await startNode()
  const b = await startNode()
  const ref = b.system.spawn(keeper, "keeper")
  const far = a.system.resolve<Message>(ref.path.toString())
  b.unplug()
  const asked = a.system.ask<Message, unknown>(far, () => ({ kind: "note", value: "too late" }), {
    timeoutMs: 50,
  })
  await expect(asked).rejects.toMatchObject({ code: "Timeout", delivery: "not-delivered" })
  await expect(asked).rejects.toBeInstanceOf(TimeoutError)
  const controller = new AbortController()
  const cancelled = a.system.ask<Message, unknown>(far, () => ({ kind: "note", value: "taken back" }), {
    signal: controller.signal,
  })
  controller.abort()
  await expect(cancelled).rejects.toMatchObject({ code: "Cancelled", delivery: "not-delivered" })
  b.plugIn()
  far.tell({ kind: "note", value: "in time" })
  expect(await notes(a, far)).toEqual(["in time"])
})

test("an ask on a connection that is lost fails as unknown", async () => {
  const { a, b, far } = await twoNodes()
  await echo(a, far, 1)
  const asked = hold(a, far)
  await echo(a, far, 2)
  b.cut()
  await expect(asked).rejects.toMatchObject({ code: "NodeUnreachable", delivery: "unknown" })
  expect(await echo(a, far, "again")).toBe("again")
})

test("an ask ends with the actor that was asked", async () => {
  const { a, far } = await twoNodes()
  const asked = hold(a, far)
  far.tell({ kind: "fail" })
  await expect(asked).rejects.toMatchObject({
    code: "ActorStopped",
    delivery: "unknown",
    cause: { name: "RangeError", message: "as told" },
  })
})

test("messages for an old incarnation of an actor are not delivered to the new one", async () => {
  const { a, b, ref, far } = await twoNodes()
  await echo(a, far, 1)
  await b.system.stopActor(ref)
  const next = b.system.spawn(keeper, "keeper")
  far.tell({ kind: "note", value: "for the old one" })
  await expect(echo(a, far, 1)).rejects.toMatchObject({ code: "ActorStopped", delivery: "not-delivered" })
  const whoever = a.system.resolve<Message>(next.path.withUid(undefined))
  expect(await notes(a, whoever)).toEqual([])
  expect(b.deadLetters).toMatchObject([{ message: { value: "for the old one" }, reason: "old-incarnation" }])
  expect(b.deadLetters[0]?.recipient.uid).toBe(ref.path.uid)
})

test("a node that restarts at the same address is another node", async () => {
  const { a, b, far } = await twoNodes()
  const seen = watching(a, far)
  await echo(a, far, 1)
  const port = Number(b.authority.split(":")[1])
  await b.system.stop()
  const again = await startNode({ listen: { host: "127.0.0.1", port, secret: SECRET } })
  again.system.spawn(keeper, "keeper")
  expect((await seen).ref.path.toString()).toBe(far.path.toString())
  await expect(echo(a, far, 1)).rejects.toMatchObject({ code: "ActorStopped", delivery: "not-delivered" })
  expect(await echo(a, a.system.resolve<Message>(far.path.withUid(undefined)), "new")).toBe("new")
})

test("watching a remote actor reports its end, with the cause", async () => {
  const { a, far } = await twoNodes()
  const seen = watching(a, far)
  await echo(a, far, 1)
  far.tell({ kind: "fail" })
  expect(await seen).toMatchObject({ cause: { name: "RangeError", message: "as told" } })
})

test("watching an actor that does not exist reports its end at once", async () => {
  const { a, b } = await twoNodes()
  const nobody = a.system.resolve<Message>(`troupe.tcp://test@${b.authority}/user/nobody`)
  expect((await watching(a, nobody)).ref.path.path).toBe("/user/nobody")
})

test("watching an actor on a node that vanishes reports its end, and why", async () => {
  const a = await startNode({ unreachableAfterMs: 100 })
  const b = await startNode()
  const far = a.system.resolve<Message>(b.system.spawn(keeper, "keeper").path.toString())
  const seen = watching(a, far)
  await echo(a, far, 1)
  b.unplug()
  expect((await seen).cause).toBeInstanceOf(NodeUnreachableError)
})

test("a watch outlives a lost connection, and the actor's end in between is noticed", async () => {
  const { a, b, ref, far } = await twoNodes()
  const watched = a.system.resolve<Message>(far.path.withUid(undefined))
  const seen = watching(a, watched)
  await echo(a, far, 1)
  const lost = a.event(AssociationLost)
  b.unplug()
  await lost
  await b.system.stopActor(ref)
  b.system.spawn(keeper, "keeper")
  b.plugIn()
  expect((await seen).ref).toBe(watched)
})

test("no Terminated comes after unwatch", async () => {
  const { a, far } = await twoNodes()
  const heard: unknown[] = []
  const watcher = a.system.spawn(
    Behaviors.setup<"unwatch">((context) => {
      context.watch(far)
      return Behaviors.receive(
        () => {
          context.unwatch(far)
          return Behaviors.same
        },
        (_context, signal) => {
          heard.push(signal)
          return Behaviors.same
        },
      )
    }),
  )
  await echo(a, far, 1)
  watcher.tell("unwatch")
  await echo(a, far, 2)
  far.tell({ kind: "stop" })
  await expect(echo(a, far, 3)).rejects.toMatchObject({ code: "ActorStopped" })
  expect(heard).toEqual([])
})

test("a quarantined node is refused, message by message, until it is lifted", async () => {
  const { a, b, far } = await twoNodes()
  await echo(a, far, 1)
  const refused: InvalidAssociation[] = []
  a.system.events.subscribe(InvalidAssociation, (event) => refused.push(event))
  a.system.quarantine(b.authority, "it looks odd")
  expect(a.system.association(b.authority)).toBe("quarantined")
  far.tell({ kind: "note", value: "refused" })
  await expect(echo(a, far, 2)).rejects.toMatchObject({ code: "Quarantined", delivery: "not-delivered" })
  await a.event(DeadLetter, () => a.deadLetters.length === 1).catch(() => {})
  expect(a.deadLetters).toMatchObject([{ message: { value: "refused" }, reason: "quarantined" }])
  expect(refused.map(({ reason, recipient }) => [reason, recipient.name])).toEqual([
    ["it looks odd", "keeper"],
    ["it looks odd", "keeper"],
  ])
  a.system.liftQuarantine(b.authority)
  expect(await echo(a, far, "again")).toBe("again")
  expect(await notes(a, far)).toEqual([])
})

test("a quarantine does not apply to the next incarnation", async () => {
  const a = await startNode()
  const b = await startNode()
  const port = Number(b.authority.split(":")[1])
  const far = a.system.resolve<Message>(`troupe.tcp://test@${b.authority}/user/keeper`)
  b.system.spawn(keeper, "keeper")
  await echo(a, far, 1)
  a.system.quarantine(b.authority, "it looks odd")
  await expect(echo(a, far, 2)).rejects.toMatchObject({ code: "Quarantined" })
  await b.system.stop()
  const next = await startNode({ listen: { host: "127.0.0.1", port, secret: SECRET } })
  next.system.spawn(keeper, "keeper")
  const connected = a.event(AssociationConnected)
  next.system.resolve<Message>(`troupe.tcp://test@${a.authority}/user/anybody`).tell({ kind: "stop" })
  await connected
  expect(await echo(a, far, "welcome")).toBe("welcome")
})

test("a message that cannot be encoded is refused at the sender", async () => {
  const { a, far } = await twoNodes()
  far.tell({ kind: "note", value: () => "a function" })
  await expect(echo(a, far, { deep: [Symbol("no")] })).rejects.toBeInstanceOf(InvalidMessageError)
  await expect(echo(a, far, { deep: [Symbol("no")] })).rejects.toThrow(/deep\[0\]/)
  await expect(echo(a, far, "x".repeat(2 ** 20))).rejects.toThrow(/maxMessageBytes/)
  expect(await echo(a, far, "x".repeat(2 ** 20 - 100))).toHaveLength(2 ** 20 - 100)
  expect(a.deadLetters).toMatchObject([{ reason: "not-sendable" }])
})

test("an answer that cannot be encoded fails the ask", async () => {
  const a = await startNode()
  const b = await startNode()
  const odd = b.system.spawn(
    Behaviors.receive<{ replyTo: ActorRef<unknown> }>((_context, { replyTo }) => {
      replyTo.tell(() => "a function")
      return Behaviors.same
    }),
  )
  const far = a.system.resolve<{ replyTo: ActorRef<unknown> }>(odd.path.toString())
  await expect(a.system.ask(far, (replyTo) => ({ replyTo }))).rejects.toMatchObject({
    code: "InvalidMessage",
    delivery: "unknown",
  })
})

test("a node with a lower maxMessageBytes is not sent larger messages", async () => {
  const a = await startNode()
  const b = await startNode({ maxMessageBytes: 10_000 })
  const far = a.system.resolve<Message>(b.system.spawn(keeper, "keeper").path.toString())
  const waited = echo(a, far, "x".repeat(20_000))
  await expect(waited).rejects.toMatchObject({ code: "InvalidMessage", delivery: "not-delivered" })
  await expect(echo(a, far, "x".repeat(20_000))).rejects.toMatchObject({ code: "InvalidMessage" })
  expect(await echo(a, far, "x".repeat(9_000))).toHaveLength(9_000)
})

test("two nodes that dial each other at the same time keep one connection", async () => {
  const a = await startNode()
  const b = await startNode()
  const near = a.system.spawn(keeper, "keeper")
  const ref = b.system.spawn(keeper, "keeper")
  const [one, two] = await Promise.all([
    echo(a, a.system.resolve<Message>(ref.path.toString()), "to b"),
    echo(b, b.system.resolve<Message>(near.path.toString()), "to a"),
  ])
  expect([one, two]).toEqual(["to b", "to a"])
})

test("a stopping node sends GOODBYE, and is not dialled again", async () => {
  const { a, b, far } = await twoNodes()
  await echo(a, far, 1)
  const lost = a.event(AssociationLost)
  await b.system.stop()
  expect(await lost).toMatchObject({ authority: b.authority, reason: "left" })
})

test("paths of other nodes need a listener of this node, and a port", async () => {
  const { system } = await startTestSystem()
  const far = "troupe.tcp://test@127.0.0.1:1/user/x"
  expect(() => system.resolve(far)).toThrow(PathResolutionError)
  expect(() => system.resolve(far)).toThrow(/listen/)
  const a = await startNode()
  expect(() => a.system.resolve("troupe.tcp://test@127.0.0.1/user/x")).toThrow(/port/)
  expect(() => a.system.resolve("troupe://other/user/x")).toThrow(/host:port/)
  expect(() => a.system.stopActor(a.system.resolve(far))).toThrow(/another node/)
})

function watching(node: TestNode, ref: ActorRef<Message>): Promise<Terminated> {
  return new Promise((resolve) => {
    node.system.spawn(
      Behaviors.setup<never>((context) => {
        context.watch(ref)
        return Behaviors.receive(
          () => Behaviors.same,
          (_context, signal) => {
            if (signal instanceof Terminated) resolve(signal)
            return Behaviors.same
          },
        )
      }),
    )
  })
}

test("nodes with the same store connect, and nodes with different stores do not", async () => {
  const shared = memoryStore()
  const a = await startNode({ store: shared })
  const b = await startNode({ store: shared })
  const c = await startNode({ store: memoryStore() })
  const d = await startNode()
  const ref = a.system.spawn(keeper, "keeper")
  expect(await echo(b, b.system.resolve<Message>(ref.path), "together")).toBe("together")
  const failed = d.event(AssociationFailed)
  d.system.resolve<Message>(ref.path).tell({ kind: "stop" })
  expect(await failed).toMatchObject({ reason: "wrong-store" })
  // A node with another store knows that this node is not a member, and does not dial it.
  const dead = c.event(DeadLetter)
  c.system.resolve<Message>(ref.path).tell({ kind: "stop" })
  expect(await dead).toMatchObject({ reason: "unreachable" })
  expect(c.system.association(a.authority)).toBeUndefined()
  expect(c.log.filter((line) => line.includes("not in the cluster"))).toHaveLength(1)
})

test("answers and messages that cannot be encoded are logged at a limited rate", async () => {
  const [a, b] = [await startNode(), await startNode()]
  const unsendable = a.system.spawn(
    Behaviors.receive<{ readonly replyTo: ActorRef<unknown> }>((_context, { replyTo }) => {
      replyTo.tell({ call: () => {} })
      return Behaviors.same
    }),
  )
  const ref = b.system.resolve<{ readonly replyTo: ActorRef<unknown> }>(unsendable.path)
  const asked = Array.from({ length: 40 }, () =>
    b.system.ask(ref, (replyTo) => ({ replyTo })).catch((error: unknown) => error),
  )
  for (const error of await Promise.all(asked)) expect(error).toBeInstanceOf(InvalidMessageError)
  expect(a.log.filter((line) => line.includes("cannot encode an answer"))).toHaveLength(10)
  const teller = b.system.resolve<unknown>(unsendable.path)
  for (let time = 0; time < 40; time += 1) teller.tell({ call: () => {} })
  expect(b.log.filter((line) => line.includes("cannot encode a message"))).toHaveLength(10)
  expect(b.system.deadLetterCount).toBe(40)
})

test("a node of a cluster with a store dials only members, and logs refused messages at a limited rate", async () => {
  const shared = memoryStore()
  const a = await startNode({ store: shared })
  const b = await startNode({ store: shared })
  const dialled: unknown[] = []
  a.system.events.subscribe(AssociationFailed, (event) => dialled.push(event))
  type Referral = { readonly to: ActorRef<string>; readonly replyTo: ActorRef<string> }
  const teller = a.system.spawn(
    Behaviors.receive<Referral>((_context, { to, replyTo }) => {
      to.tell("who is there?")
      replyTo.tell("told")
      return Behaviors.same
    }),
  )
  const referred = b.system.resolve<Referral>(teller.path)
  for (let port = 1; port <= 200; port += 1) {
    const to = b.system.resolve<string>(`troupe.tcp://test@127.0.0.1:${port}/user/x`)
    expect(await b.system.ask<Referral, string>(referred, (replyTo) => ({ to, replyTo }))).toBe("told")
  }
  a.system.events.flush()
  expect(a.deadLetters).toHaveLength(200)
  expect(new Set(a.deadLetters.map(({ reason }) => reason))).toEqual(new Set(["unreachable"]))
  expect(dialled).toEqual([])
  expect(a.log.filter((line) => line.includes("not in the cluster"))).toHaveLength(10)
  // An ask fails at once, and a watch ends after a while.
  const nobody = a.system.resolve<string>("troupe.tcp://test@127.0.0.1:9/user/x")
  const failed = await a.system.ask(nobody, () => "anybody?").catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(NodeUnreachableError)
  expect(failed).toMatchObject({ delivery: "not-delivered" })
})

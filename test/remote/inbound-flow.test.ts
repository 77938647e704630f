import { describe, expect, it, onTestFinished } from "vitest"
import { Actor, type ActorRef, type Behavior, Behaviors, OverloadedError } from "../../src/index.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { startNode } from "./nodes.js"
import { MIB } from "./support/memory.js"
import type { RawPeer } from "./support/raw-peer.js"
import { sieges } from "./support/siege.js"
import { notice, recorded, until } from "./support/until.js"
import { batch, name, oneWay, payloadOf } from "./support/wire.js"

const besiege = sieges()
/** More than a node reads at a time, and more than its socket buffers hold. */
const FLOOD = 200_000
const BATCH = 20_000

describe("a peer that sends as fast as it can", () => {
  it("is slowed down to the rate of the actor: nothing is lost, however small its mailbox", async () => {
    const { node, insider } = await besiege()
    for (const [kind, counter] of Object.entries({ sync: counting, async: countingLater })) {
      const count = { handled: 0 }
      node.system.spawn(counter(count), kind, { mailboxCapacity: 100 })
      const peer = await insider()
      const before = node.system.deadLetterCount
      peer.send(name(0, node.path(kind)))
      send(peer, FLOOD)
      await until("all are handled", () => count.handled === FLOOD || isLost(node.system, before), 30_000)
      expect([count.handled, node.system.deadLetterCount - before]).toEqual([FLOOD, 0])
    }
  })

  it("fills the mailbox of an actor that does not keep up; further messages to it are refused, others are served", async () => {
    const { node, honest, insider } = await besiege({ mailboxCapacity: 1_000 })
    const gate = new Gate()
    const count = { handled: 0 }
    node.system.spawn(waiting(gate, count), "stuck")
    const peer = await insider()
    peer.send(name(0, node.path("stuck")))
    send(peer, FLOOD)
    // One message is being handled, and the mailbox is full.
    await until("the rest is refused", () => node.system.deadLetterCount >= FLOOD - 1_001, 30_000)
    await honest.more(5)
    expect(node.system.deadLetterCount).toBe(FLOOD - 1_001)
    await until("dead letters are told", () => node.deadLetters.length === FLOOD - 1_001)
    expect(new Set(node.deadLetters.map(({ reason }) => reason))).toEqual(new Set(["mailbox-full"]))
    node.forget()
    gate.open()
    await until("what waited is handled", () => count.handled === 1_001)
  })

  it("does not exhaust memory through many actors that do not keep up: the messages of one node are bounded", async () => {
    const { node, honest, insider } = await besiege({ inboundBuffer: { messages: 1_280 } })
    const gate = new Gate()
    const count = { handled: 0 }
    const peer = await insider()
    for (let actor = 0; actor < 50; actor += 1) {
      node.system.spawn(waiting(gate, count), `stuck-${actor}`)
      peer.send(name(actor, node.path(`stuck-${actor}`)))
    }
    send(peer, FLOOD, 50)
    const most = 2 * 1_280 + 50 + 50
    await until("the rest is refused", () => node.system.deadLetterCount >= FLOOD - most, 30_000)
    await honest.more(5)
    const { deadLetterCount } = node.system
    expect(deadLetterCount).toBeGreaterThanOrEqual(FLOOD - most)
    // Every actor handles one message, and has its share of the budget.
    expect(deadLetterCount).toBeLessThanOrEqual(FLOOD - 1_280)
    node.forget()
    gate.open()
    await until("what waited is handled", () => count.handled === FLOOD - deadLetterCount)
    // The budget has room again, since the actors keep up now.
    send(peer, 40_000, 50)
    await until("more is handled", () => count.handled === FLOOD - deadLetterCount + 40_000)
    expect(node.system.deadLetterCount).toBe(deadLetterCount)
  })

  it("does not exhaust memory with messages that are small on the wire and large in memory", async () => {
    const { node, insider } = await besiege({ inboundBuffer: { bytes: 4 * MIB } })
    const gate = new Gate()
    const count = { handled: 0 }
    node.system.spawn(waiting(gate, count), "stuck")
    const peer = await insider()
    peer.send(name(0, node.path("stuck")))
    const maps = oneWay(0, payloadOf(Array.from({ length: 4_000 }, () => new Map())))
    for (let sent = 0; sent < 100; sent += 1) peer.send(maps)
    // Of 8 KiB each on the wire, by which all of them would fit; and of 383 KiB in memory, of which five fit into the half that is for
    // one actor. One more is being handled, or has been told from those that wait only after the rest came.
    await until("the rest is refused", () => node.deadLetters.length >= 94)
    expect(node.deadLetters.length).toBeLessThan(96)
    expect(new Set(node.deadLetters.map(({ reason }) => reason))).toEqual(new Set(["inbound-full"]))
    gate.open()
    await until("what waited is handled", () => count.handled + node.deadLetters.length === 100)
    expect(count.handled).toBeGreaterThan(1)
  })
})

describe("actors that wait for the node that floods them", () => {
  it("get the answer behind the flood, also when the budget is full", async () => {
    const a = await startNode({ inboundBuffer: { messages: 1_000 }, mailboxCapacity: 1_000_000 })
    const b = await startNode()
    type Ask = { readonly replyTo: ActorRef<string> }
    const answers = recorded<string>()
    const handled = { count: 0 }
    const asker: Behavior<ActorRef<Ask> | number> = Behaviors.receive(async (context, message) => {
      handled.count += 1
      notice()
      if (typeof message === "number") return Behaviors.same
      answers.push(await context.ask<Ask, string>(message, (replyTo) => ({ replyTo }), { timeoutMs: 10_000 }))
      return Behaviors.same
    })
    const path = a.system.spawn(asker, "asker").path.toString()
    const remote = b.system.resolve<ActorRef<Ask> | number>(path)
    const flooder = b.system.spawn(
      Behaviors.receive<Ask>((_context, { replyTo }) => {
        // The answer is sent after these.
        for (let number = 0; number < 5_000; number += 1) remote.tell(number)
        replyTo.tell("the answer")
        return Behaviors.same
      }),
    )
    remote.tell(flooder)
    await until("it is answered, and all else is dealt with", () => {
      return answers.length === 1 && handled.count + a.system.deadLetterCount === 5_001
    })
    expect(answers).toEqual(["the answer"])
    expect(handled.count).toBeGreaterThan(1_000)
  })
})

describe("calls of virtual actors from another node", () => {
  it("are limited in bytes too: one actor takes half of the budget, and others are served", async () => {
    const store = memoryStore()
    let gate = new Gate()
    class Slow extends Actor {
      static readonly type = "Slow"
      static readonly idleAfterMs = 60_000

      async take(_bytes: Uint8Array) {
        await gate.opened
        return "taken"
      }

      quick() {
        return "quick"
      }
    }
    const settings = { store, inboundBuffer: { bytes: 4 * MIB } }
    const host = await startNode({ ...settings, actors: [Slow] })
    const caller = await startNode(settings)
    onTestFinished(() => gate.open())
    const slow = caller.system.actor(Slow, "a")
    await slow.quick()
    // Once more, to show that the first round has left the budget.
    for (const _time of [1, 2]) {
      gate = new Gate()
      const calls = Array.from({ length: 20 }, () =>
        slow.take(new Uint8Array(MIB / 2)).catch((error: unknown) => error),
      )
      // One runs; three of a little more than half a MiB fit into two MiB.
      const refused = await Promise.all(calls.slice(4))
      expect(refused.every((error) => error instanceof OverloadedError)).toBe(true)
      expect(refused[0]).toMatchObject({ code: "Overloaded", delivery: "not-delivered" })
      expect(await caller.system.actor(Slow, "b").quick()).toBe("quick")
      gate.open()
      expect(await Promise.all(calls.slice(0, 4))).toEqual(["taken", "taken", "taken", "taken"])
    }
    expect(host.system.node).toBeDefined()
  })
})

/** Makes `tell` frames to several names in turn, in batches longer than one read. */
function send(peer: RawPeer, count: number, names = 1): void {
  const payload = payloadOf(1)
  const bytes = batch(...Array.from({ length: BATCH }, (_, at) => oneWay(at % names, payload)))
  for (let sent = 0; sent < count; sent += BATCH) peer.socket.write(bytes)
}

function isLost(system: { readonly deadLetterCount: number }, before: number): boolean {
  return system.deadLetterCount > before
}

class Gate {
  open: () => void = () => {}
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve
  })
}

interface Count {
  handled: number
}

const counting = (count: Count): Behavior<number> =>
  Behaviors.receive(() => {
    count.handled += 1
    notice()
    return Behaviors.same
  })

const countingLater = (count: Count): Behavior<number> =>
  Behaviors.receive(async () => {
    count.handled += 1
    notice()
    return Behaviors.same
  })

/** An actor that completes no message before the gate opens. */
const waiting = (gate: Gate, count: Count): Behavior<unknown> =>
  Behaviors.receive(async () => {
    await gate.opened
    count.handled += 1
    notice()
    return Behaviors.same
  })

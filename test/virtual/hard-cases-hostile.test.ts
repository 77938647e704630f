import { describe, expect, it, onTestFinished } from "vitest"
import { NodeId } from "../../src/address/node-id.js"
import { PlacementError } from "../../src/errors/actor-call-errors.js"
import { ActorStoppedError, FencedError, NodeUnreachableError } from "../../src/errors/call-errors.js"
import { Actor, CallError } from "../../src/index.js"
import { endCommit, joinCommit } from "../../src/registry/commits.js"
import { ENVELOPE } from "../../src/remote/frames.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import {
  ANSWER,
  Envelope,
  FAILURE,
  REQUEST,
  SUPPRESS_KEEP_ALIVE,
  writeEnvelope,
} from "../../src/serialization/envelope.js"
import { OutputBuffer } from "../../src/serialization/output-buffer.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { withOptions } from "../../src/virtual/handle.js"
import { ManualClock } from "../fake/manual-clock.js"
import { freshNode, type Message, RawPeer } from "../remote/support/raw-peer.js"
import { recorded, until } from "../remote/support/until.js"
import { WatchedNode } from "../remote/support/watched-node.js"
import { type Frame, failure, frame, name, payloadOf, request } from "../remote/support/wire.js"
import { failureOf, Gate } from "./scene.js"

let ran = recorded<string>()
let door = new Gate()

class Vault extends Actor<{ gold: number }> {
  static readonly type = "Vault"
  static readonly idleAfterMs = 800

  protected override initialState() {
    ran.push("initialState")
    return { gold: 100 }
  }

  protected override onActivate() {
    ran.push("onActivate")
  }

  protected override onDeactivate() {
    ran.push("onDeactivate")
  }

  protected override upgradeState() {
    ran.push("upgradeState")
    return { gold: 0 }
  }

  look() {
    ran.push("look")
    return this.state.gold
  }

  count(...args: unknown[]) {
    ran.push("count")
    return args.length
  }

  async hold() {
    ran.push("hold")
    await door.promise
    return "held"
  }

  _steal() {
    ran.push("_steal")
  }

  get gold() {
    ran.push("gold")
    return this.state.gold
  }
}

/** Starts a node with a vault, and a peer that knows the secret and sends handcrafted messages to it. */
async function attack(clock?: ManualClock) {
  ran = recorded()
  door = new Gate()
  const provider = memoryStore()
  const store = await provider.open("besieged", nodePorts())
  const node = await WatchedNode.start(
    { actors: [Vault], store: provider, lease: { deathProof: false } },
    clock === undefined ? {} : { clock },
  )
  onTestFinished(async () => {
    const stop = node.stop()
    if (clock !== undefined) await clock.advance(20_000)
    await stop
  })
  const self = freshNode()
  const peer = await RawPeer.admitted(node, { self, store: store.identity })
  onTestFinished(() => peer.destroy())
  peer.send(name(0, `${node.system.address}/system/actors`))
  let asked = 0
  /** Sends a handcrafted message and returns the answer. */
  const ask = async (message: unknown, fields: Partial<Envelope> = {}): Promise<Message> => {
    asked += 1
    const correlation = asked
    peer.send(call(correlation, payloadOf(message), fields))
    const answer = () =>
      peer.messages.find(({ envelope }) => envelope.correlation === correlation && isAnswer(envelope))
    await until("it is answered", () => answer() !== undefined || peer.isClosed)
    const found = answer()
    if (found === undefined) throw new Error("the node hung up")
    return found
  }
  return { node, peer, self, store, ask }
}

function isAnswer({ direction }: Envelope): boolean {
  return direction === ANSWER || direction === FAILURE
}

function call(correlation: number, payload: Buffer, fields: Partial<Envelope>): Frame {
  if (Object.keys(fields).length === 0) return request(0, correlation, payload)
  const out = new OutputBuffer(64)
  const envelope = { direction: REQUEST, target: 0, correlation, timeLeftMs: 5_000, ...fields } as const
  writeEnvelope(out, Object.assign(new Envelope(), envelope))
  return frame(ENVELOPE, Buffer.from(out.bytes.subarray(0, out.at)), payload)
}

describe("a handcrafted message", () => {
  it("calls a method if it is valid", async () => {
    const { ask } = await attack()
    expect((await ask(["Vault", "v", "look", []])).message).toBe(100)
    expect((await ask(["Vault", "v", "count", [1, 2, 3]])).message).toBe(3)
  })

  it.each([
    "constructor",
    "__proto__",
    "prototype",
    "hasOwnProperty",
    "toString",
    "valueOf",
    "isPrototypeOf",
    "__defineGetter__",
    "__lookupGetter__",
    "initialState",
    "onActivate",
    "onDeactivate",
    "upgradeState",
    "save",
    "actor",
    "deactivate",
    "state",
    "id",
    "key",
    "signal",
    "timers",
    "fencingToken",
    "_steal",
    "gold",
    "then",
    "toJSON",
    "",
    "look ",
  ])("cannot call %o", async (method) => {
    const { ask } = await attack()
    await ask(["Vault", "v", "look", []])
    ran = recorded()
    const { envelope, message } = await ask(["Vault", "v", method, []])
    expect(envelope.direction).toBe(FAILURE)
    expect(message).toMatchObject({ code: "UnknownMethod", delivery: "not-delivered" })
    expect(ran).toEqual([])
    expect((await ask(["Vault", "v", "look", []])).message).toBe(100)
  })

  it.each([
    ["nothing", undefined],
    ["a string", "Vault"],
    ["an object", { 0: "Vault", 1: "v", 2: "look", 3: [], length: 4 }],
    ["too short", ["Vault", "v", "look"]],
    ["a number for a type", [5, "v", "look", []]],
    ["a number for a key", ["Vault", 5, "look", []]],
    ["an object for a method", ["Vault", "v", { toString: "look" }, []]],
    ["a string for arguments", ["Vault", "v", "look", "abc"]],
    ["an empty key", ["Vault", "", "look", []]],
    ["an empty type", ["", "v", "look", []]],
    ["a type with a slash", ["Vault/v", "w", "look", []]],
    ["a key that is too long", ["Vault", "x".repeat(300), "look", []]],
    ["a key with an unpaired surrogate", ["Vault", "\ud800", "look", []]],
  ])("that is %s is refused, and no actor is started", async (_what, message) => {
    const { ask, node } = await attack()
    const answer = await ask(message)
    expect(answer.envelope.direction).toBe(FAILURE)
    expect(answer.message).toMatchObject({ code: "InvalidMessage", delivery: "not-delivered" })
    expect(ran).toEqual([])
    expect(node.log.filter((line) => line.startsWith("error"))).toEqual([])
    expect((await ask(["Vault", "v", "look", []])).message).toBe(100)
  })

  it("with a slash in the type does not reach the actor of that name", async () => {
    const { ask, node, peer } = await attack()
    expect((await ask(["Vault", "a/b", "look", []])).message).toBe(100)
    ran = recorded()
    const answer = await ask(["Vault/a", "b", "look", []])
    expect(answer.message).toMatchObject({ code: "InvalidMessage", delivery: "not-delivered" })
    expect(ran).toEqual([])
    expect(peer.isClosed).toBe(false)
    expect(node.log.filter((line) => line.startsWith("error"))).toEqual([])
  })

  it("for a type that is not hosted here is refused", async () => {
    const { ask } = await attack()
    const { message } = await ask(["Nobody", "v", "look", []])
    expect(message).toBeInstanceOf(CallError)
    expect(message).toMatchObject({ delivery: "not-delivered" })
  })

  it("with its own actor in the call chain is a cycle while the actor is busy", async () => {
    const { ask } = await attack()
    const chained = () => ask(["Vault", "v", "look", []], { chain: ["X/y", "Vault/v"] })
    const held = ask(["Vault", "v", "hold", []])
    await until("it is busy", () => ran.includes("hold"))
    expect((await chained()).message).toMatchObject({ code: "CallCycle", cycle: ["Vault/v", "Vault/v"] })
    expect(ran).not.toContain("look")
    door.open()
    expect((await held).message).toBe("held")
    expect((await chained()).message).toBe(100)
  })

  it("with the flag that suppresses keep-alive does not count as use", async () => {
    const clock = new ManualClock()
    const { ask, node } = await attack(clock)
    const activation = () => ActorSystem.actorsOf(node.system)?.catalog.get("Vault/v")
    await ask(["Vault", "v", "look", []])
    for (let time = 0; time < 7; time += 1) {
      await clock.advance(100)
      expect((await ask(["Vault", "v", "look", []], { flags: SUPPRESS_KEEP_ALIVE })).message).toBe(100)
    }
    expect(activation()?.state).toBe("valid")
    await clock.advance(350)
    expect(activation()).toBeUndefined()
    await ask(["Vault", "v", "look", []])
    for (let time = 0; time < 12; time += 1) {
      await clock.advance(100)
      await ask(["Vault", "v", "look", []])
    }
    expect(activation()?.state).toBe("valid")
  })
})

it("a call carries its remaining time, without the time that it has waited for a host", async () => {
  const clock = new ManualClock()
  const { node, peer, self, store } = await attack(clock)
  const { epoch } = await store.get("any")
  const record = { status: "active", roles: [], types: ["Evil"], lifeline: undefined } as const
  const join = (host: NodeId) =>
    store.commit({ epoch, ...joinCommit(host.toString(), record, new Uint8Array(0)) }) as Promise<{
      revision: number
    }>
  const former = NodeId.of(self.host, self.port, "f".repeat(16))
  const { revision } = await join(former)
  await until("the node sees it", () => node.system.cluster.members.length === 2)
  await store.commit({ epoch, ...endCommit(former.toString(), revision) })
  await until("the node sees that it is gone", () => node.system.cluster.members.length === 1)
  const evil = withOptions(node.system.actor("Evil", "k"), { timeoutMs: 10_000 }) as unknown as {
    take(): Promise<unknown>
  }
  const call = failureOf(evil.take())
  await clock.advance(3_000)
  await join(self)
  await until("the node sees it", () => node.system.cluster.members.length === 2)
  await clock.advance(1_000)
  const asked = () => peer.messages.find(({ envelope }) => envelope.direction === REQUEST)?.envelope
  await until("the call is sent", () => asked() !== undefined)
  expect(asked()?.timeLeftMs).toBeLessThanOrEqual(7_000)
  expect(asked()?.timeLeftMs).toBeGreaterThanOrEqual(6_000)
  await clock.advance(10_000)
  expect(await call).toBeInstanceOf(CallError)
})

describe("a handcrafted answer", () => {
  const where = (told: unknown) =>
    new PlacementError("besieged::Evil/k", "moved", "the actor is elsewhere", told as never)
  const answers: [what: string, error: Error][] = [
    ["moved to undefined", where(undefined)],
    ["moved to an invalid node id", where({ node: "nonsense", epoch: "e", revision: 7 })],
    ["moved to an object", where({ node: { a: 1 }, epoch: "e", revision: 7 })],
    ["moved at an invalid revision", where({ node: undefined, epoch: "e", revision: "x" })],
    ["moved in an invalid epoch", where({ node: undefined, epoch: 5, revision: 1 })],
    ["moved to a number", where(5)],
    ["moved to null", where(null)],
    ["fenced", new FencedError("x", "not-delivered", "reported by the peer")],
    ["unreachable", new NodeUnreachableError("x:1", "not-delivered", "reported by the peer")],
    ["stopped", new ActorStoppedError("x", "not-delivered")],
  ]
  it.each(answers)(
    "that repeatedly says %s ends the call at its timeout without further harm",
    async (_what, error) => {
      const { node, peer, self, store } = await attack()
      const { epoch } = await store.get("any")
      const record = { status: "active", roles: [], types: ["Evil"], lifeline: undefined } as const
      await store.commit({ epoch, ...joinCommit(self.toString(), record, new Uint8Array(0)) })
      await until("the node sees it", () => node.system.cluster.members.length === 2)
      const evil = withOptions(node.system.actor("Evil", "k"), { timeoutMs: 300 }) as unknown as {
        take(): Promise<unknown>
      }
      const call = failureOf(evil.take())
      let answered = 0
      const answering = setInterval(() => {
        const asked = peer.messages.filter(({ envelope }) => envelope.direction === REQUEST)
        for (const { envelope } of asked.slice(answered))
          peer.send(failure(envelope.correlation, payloadOf(error)))
        answered = asked.length
      }, 1)
      onTestFinished(() => clearInterval(answering))
      expect(await call).toBeInstanceOf(CallError)
      expect(answered).toBeGreaterThan(1)
      expect(answered).toBeLessThan(50)
      expect(peer.isClosed).toBe(false)
      expect(node.log.filter((line) => line.startsWith("error"))).toEqual([])
      expect(await node.system.actor(Vault, "v").look()).toBe(100)
    },
  )
})

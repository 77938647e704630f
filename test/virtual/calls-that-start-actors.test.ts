import { beforeEach, expect, test } from "vitest"
import { Actor, binaryCodec, type CodecFactory, UnknownMethodError } from "../../src/index.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { ActivationBecame } from "../../src/virtual/activation-events.js"
import { startNode, type TestNode } from "../remote/nodes.js"
import { notice, until } from "../remote/support/until.js"
import { failureOf, Gate } from "./scene.js"

let started = 0
let gate = new Gate()
let reached = { count: Number.POSITIVE_INFINITY, gate: new Gate() }

beforeEach(() => {
  started = 0
  gate = new Gate()
  reached = { count: Number.POSITIVE_INFINITY, gate: new Gate() }
})

class Slow extends Actor {
  static readonly type = "Slow"

  protected override async onActivate() {
    if (this.key === "warm") return
    started += 1
    if (started >= reached.count) reached.gate.open()
    await gate.promise
  }

  hi(number: number) {
    return number
  }
}

/** A codec that notifies `until` of each incoming message. */
const noticed: CodecFactory = (tools) => {
  const codec = binaryCodec()(tools)
  const decode = codec.decode.bind(codec)
  return Object.assign(codec, {
    decode: (...bytes: Parameters<typeof decode>) => {
      notice()
      return decode(...bytes)
    },
  })
}

async function caller() {
  const shared = { store: memoryStore(), lease: { deathProof: false } }
  const there = await startNode({ ...shared, actors: [Slow], codec: noticed })
  there.system.events.subscribe(ActivationBecame, notice)
  const here = await startNode({ ...shared, actors: [], drainMs: 50 })
  await until("both see both", () => [here, there].every(({ system }) => system.cluster.members.length === 2))
  const slow = (key: string) => here.system.actor<Slow>("Slow", key)
  await slow("warm").hi(0)
  return { here, there, slow }
}

function authorityOf({ system }: TestNode): string {
  return system.address.authority as string
}

/** Returns the result of the call, or the error that it is rejected with. */
function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  return call.catch((error: unknown) => error)
}

test("a remote call to an unknown method claims and starts no actor", async () => {
  gate.open()
  const { there, slow } = await caller()
  const calls = Array.from({ length: 300 }, (_, number) =>
    failureOf((slow(`${number}`) as unknown as { nope(): Promise<void> }).nope()),
  )
  for (const error of await Promise.all(calls)) {
    expect(error).toBeInstanceOf(UnknownMethodError)
    expect(error).toMatchObject({ type: "Slow", method: "nope", delivery: "not-delivered" })
  }
  expect(started).toBe(0)
  const registry = ActorSystem.registryOf(there.system)
  expect([...(registry?.tenures() ?? [])].map(({ id }) => id.key)).toEqual(["warm"])
  // A known method starts the actor.
  expect(await slow("a").hi(7)).toBe(7)
  expect(started).toBe(1)
})

test("at most 1,024 actors are started at a time for one connection; the calls to others wait and are answered", async () => {
  const { there, slow } = await caller()
  reached.count = 1_024
  const calls = Array.from({ length: 1_300 }, (_, number) => outcomeOf(slow(`${number}`).hi(number)))
  const second = outcomeOf(slow("1299").hi(-1))
  await reached.gate.promise
  await until("all have arrived", () => ActorSystem.actorsOf(there.system)?.resolving === 1_300)
  expect(started).toBe(1_024)
  gate.open()
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 1_300 }, (_, number) => number))
  expect(await second).toBe(-1)
  expect(started).toBe(1_300)
})

test("an actor whose callers no longer wait is not started", async () => {
  const { here, there, slow } = await caller()
  reached.count = 1_024
  const calls = Array.from({ length: 1_030 }, (_, number) => outcomeOf(slow(`${number}`).hi(number)))
  await reached.gate.promise
  await until("all have arrived", () => ActorSystem.actorsOf(there.system)?.resolving === 1_030)
  await here.system.stop()
  await Promise.all(calls)
  await until("its connection is gone", () => there.system.association(authorityOf(here)) !== "connected")
  gate.open()
  await until("nothing waits", () => ActorSystem.actorsOf(there.system)?.resolving === 0)
  expect(started).toBe(1_024)
})

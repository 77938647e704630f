import { expect, test } from "vitest"
import { settle } from "../../test/fake/manual-clock.js"
import { PLAIN } from "../../test/registry/plain-codec.js"
import { HOLDER_MS, idOf, Scene, type SceneNode, TTL_MS } from "../../test/registry/scene.js"
import { FencedError } from "../errors/call-errors.js"
import { StateError } from "../errors/state-error.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { Codec } from "../ports/codec.js"
import type { Entry } from "../ports/store.js"
import { binaryCodec } from "../serialization/binary-codec.js"
import { jsonCodec } from "../serialization/json-codec.js"
import { DurableState } from "./durable-state.js"
import { placementKey, stateKey } from "./registry-keys.js"
import { StateCodecs } from "./state-codecs.js"
import type { StateShape } from "./state-value.js"
import { decodeState } from "./stored-state.js"
import type { Tenure } from "./tenure.js"

const alice = idOf("alice")
const RETRY_MS = 100

test("an actor that has never saved loads undefined", async () => {
  const { state } = await activated()
  expect(await state.load()).toBeUndefined()
  expect(state.isStored).toBe(false)
})

test("the next activation loads what was saved", async () => {
  const { state, next } = await activated()
  await state.load()
  await state.save({ balance: 1 })
  expect(state.isStored).toBe(true)
  await state.save({ balance: 2 })
  const later = await next()
  expect(await later.state.load()).toEqual({ balance: 2 })
  await later.state.save({ balance: 3 })
  expect(await (await next()).state.load()).toEqual({ balance: 3 })
})

test("what the claim has read is loaded without a request, and saved over", async () => {
  const { node, scene, state, next } = await activated()
  await state.load()
  await state.save({ balance: 1 })
  const later = await next()
  node.way.trouble = "refuse"
  const claimed = { entry: await scene.entry(stateKey(alice)) }
  expect(later.state.take(claimed)).toEqual({ balance: 1 })
  node.way.trouble = undefined
  await later.state.save({ balance: 2 })
  const last = await next()
  const upgraded = last.state.take({ entry: undefined }, () => "upgraded")
  expect([upgraded, last.state.isStored]).toEqual([undefined, false])
})

test("what the claim has read is upgraded, and refused if it cannot be decoded", async () => {
  const { scene, state, next } = await activated()
  await state.load()
  await state.save({ cents: 150 })
  const stored = (await scene.entry(stateKey(alice))) as Entry
  const later = await next({ shape: { version: 2 } })
  expect(later.state.take({ entry: stored }, (_, from) => `from ${from}`)).toBe("from 1")
  const broken = { entry: { ...stored, value: stored.value.slice(0, 3) } }
  const last = await next()
  const taking = Promise.resolve().then(() => last.state.take(broken))
  await expectProblem(taking, "unreadable")
})

test("a state that the claim has read is not loaded by a node that was fenced since", async () => {
  const { node, state } = await activated()
  await node.registry.stop()
  expect(() => state.take({ entry: undefined })).toThrow(FencedError)
})

test("a saved undefined is told from no state", async () => {
  const { state, next } = await activated()
  await state.load()
  await state.save(undefined)
  const { state: later } = await next()
  expect([await later.load(), later.isStored]).toEqual([undefined, true])
})

test("a load that the store does not answer rejects, and the activation goes on", async () => {
  const { node, state, tenure } = await activated()
  node.way.trouble = "refuse"
  await expect(state.load()).rejects.toThrow(StoreUnavailableError)
  expect(tenure.mayBegin()).toBe(true)
  node.way.trouble = undefined
  expect(await state.load()).toBeUndefined()
})

test("a state of an older version is upgraded once, and saved as the present version", async () => {
  const { state, next } = await activated()
  await state.load()
  await state.save({ cents: 150 })
  const upgrades: number[] = []
  const version2: StateShape = {
    version: 2,
    upgrade: (old, from) => {
      upgrades.push(from)
      return { euros: (old as { cents: number }).cents / 100 }
    },
  }
  const { state: later } = await next({ shape: version2 })
  expect(await later.load()).toEqual({ euros: 1.5 })
  await later.save({ euros: 2 })
  expect(await (await next({ shape: version2 })).state.load()).toEqual({ euros: 2 })
  expect(upgrades).toEqual([1])
})

test("a state of an older version is not used without an upgrade, or if the upgrade fails", async () => {
  const { state, next } = await activated()
  await state.load()
  await state.save(1)
  await expectProblem((await next({ shape: { version: 2 } })).state.load(), "not-upgraded")
  const cause = new Error("no idea")
  const upgrade = () => {
    throw cause
  }
  const failed = (await next({ shape: { version: 2, upgrade } })).state.load()
  await expectProblem(failed, "not-upgraded")
  await expect(failed).rejects.toMatchObject({ cause, actor: `${alice}` })
})

test("a state of a later version is not used, and stays as it is", async () => {
  const { scene, state, next } = await activated({ shape: { version: 3 } })
  await state.load()
  await state.save("from the future")
  const before = await scene.entry(stateKey(alice))
  const { state: older } = await next()
  await expectProblem(older.load(), "from-a-later-version")
  expect(await scene.entry(stateKey(alice))).toEqual(before)
})

test("a state of another codec is not used, and one of the same codec under other limits is", async () => {
  const { state, next } = await activated()
  await state.load()
  await state.save("by the binary one")
  await expectProblem((await next({ codec: jsonCodec()(PLAIN) })).state.load(), "unreadable")
  const tight = binaryCodec({ maxDepth: 3 })(PLAIN)
  expect(tight.name).not.toBe(binaryCodec()(PLAIN).name)
  expect(await (await next({ codec: tight })).state.load()).toBe("by the binary one")
})

test.each([
  ["nothing at all", new Uint8Array(0)],
  ["another format", Uint8Array.of(9, 0, 0)],
  [
    "a head and no value",
    Buffer.concat([Uint8Array.of(1, 0x81, 0x61, 1, 0x8f), Buffer.from("troupe-binary-1")]),
  ],
])("what cannot be read is never taken for nothing: %s", async (_what, bytes) => {
  const { scene, state } = await activated()
  await scene.commit({ kind: "put", key: stateKey(alice), value: bytes })
  await expectProblem(state.load(), "unreadable")
})

test("a value that is too large is refused before it is sent, and the activation goes on", async () => {
  const { node, state, tenure, next } = await activated({ maxStateBytes: 100 })
  await state.load()
  await state.save("x".repeat(90))
  const calls = node.way.calls.length
  await expectProblem(state.save("x".repeat(200)), "too-large")
  expect(node.way.calls.length).toBe(calls)
  expect(tenure.mayBegin()).toBe(true)
  await state.save("small again")
  expect(await (await next()).state.load()).toBe("small again")
})

test("a value that cannot be encoded is refused, and the activation goes on", async () => {
  const { state, tenure } = await activated()
  await state.load()
  await expectProblem(state.save({ callback: () => {} }), "not-writable")
  expect(tenure.mayBegin()).toBe(true)
  await state.save({ fine: true })
})

test("a save takes the value as it is at the call", async () => {
  const { state, next } = await activated()
  await state.load()
  const value = { balance: 1 }
  const saved = state.save(value)
  value.balance = 99
  await saved
  expect(await (await next()).state.load()).toEqual({ balance: 1 })
})

test("saves are made one after the other, in the order of the calls", async () => {
  const { scene, node, state, next } = await activated()
  await state.load()
  node.way.strike("hang")
  const saves = [1, 2, 3].map((balance) => state.save({ balance }))
  await settle()
  expect(node.way.calls.filter((kind) => kind === "commit")).toHaveLength(3)
  expect(await scene.entry(stateKey(alice))).toBeUndefined()
  await node.way.store.release()
  await Promise.all(saves)
  await state.idle()
  expect(await (await next()).state.load()).toEqual({ balance: 3 })
})

test("each write has an id of its own", async () => {
  const { scene, state, next } = await activated()
  await state.load()
  const ids = new Set<string>()
  const note = async () =>
    ids.add(decodeState((await scene.entry(stateKey(alice)))?.value as Uint8Array).writeId)
  await state.save(1)
  await note()
  await state.save(1)
  await note()
  const { state: later } = await next()
  await later.load()
  await later.save(1)
  await note()
  expect(ids.size).toBe(3)
})

test("writes of two activations under one generation have ids of their own", async () => {
  const { scene, node, state, tenure } = await activated()
  const idStored = async () => decodeState((await scene.entry(stateKey(alice)))?.value as Uint8Array).writeId
  await state.load()
  await state.save(1)
  const first = await idStored()
  const tools = {
    store: node.way.store,
    clock: scene.clock,
    codecs: new StateCodecs(binaryCodec()(PLAIN)),
    lowestVersion: () => undefined,
    maxStateBytes: 1_000,
    stateFormat: () => 2,
  }
  const again = new DurableState(tenure, tools, { version: 1 })
  await again.load()
  await again.save(1)
  expect(await idStored()).not.toBe(first)
})

test("a save of an activation that has a successor is refused, ends it, and changes nothing", async () => {
  const { scene, state, tenure, next } = await activated()
  await state.load()
  await state.save("by the first")
  // The placement moves, as when another node takes it over, and nobody has told this one.
  const { state: later } = await next({ keepsFirst: true })
  expect(await later.load()).toBe("by the first")
  await later.save("by the second")
  const before = await scene.entry(stateKey(alice))
  expect(tenure.mayAct()).toBe(true)
  const [first, second] = [state.save("too late"), state.save("later still")]
  await expect(first).rejects.toThrow(FencedError)
  await expect(first).rejects.toMatchObject({ delivery: "unknown", target: `${alice}` })
  await expect(second).rejects.toThrow(FencedError)
  expect([tenure.mayAct(), tenure.endedBecause]).toEqual([false, "its save was refused"])
  expect(await scene.entry(stateKey(alice))).toEqual(before)
})

test("a state that was changed by another writer is not overwritten, even if the placement is unchanged", async () => {
  const { scene, state, tenure } = await activated()
  await state.load()
  await state.save(1)
  const { value } = (await scene.entry(stateKey(alice))) as { value: Uint8Array }
  await scene.commit({ kind: "put", key: stateKey(alice), value })
  const before = await scene.entry(stateKey(alice))
  await expect(state.save(2)).rejects.toThrow(FencedError)
  expect(tenure.mayAct()).toBe(false)
  expect(await scene.entry(stateKey(alice))).toEqual(before)
})

test.each(["lose-answer", "lose-request", "arrive-late"] as const)(
  "a save that meets %s is made once, and is known to be made",
  async (fault) => {
    const { scene, node, state, tenure, next } = await activated()
    await state.load()
    await state.save(1)
    node.way.strike(fault)
    const saved = state.save(2)
    await scene.clock.advance(RETRY_MS)
    await saved
    const revision = (await scene.entry(stateKey(alice)))?.revision
    await node.way.store.release()
    expect((await scene.entry(stateKey(alice)))?.revision).toBe(revision)
    expect(tenure.mayBegin()).toBe(true)
    await state.save(3)
    expect(await (await next()).state.load()).toBe(3)
  },
)

test("a first save that arrives late does not undo the second", async () => {
  const { scene, node, state, next } = await activated()
  await state.load()
  node.way.strike("arrive-late")
  const saves = [state.save(1), state.save(2)]
  await scene.clock.advance(RETRY_MS)
  await Promise.all(saves)
  await node.way.store.release()
  expect(await (await next()).state.load()).toBe(2)
})

test("a save is retried while the store is away, and made when it is back", async () => {
  const { scene, node, state, next } = await activated()
  await state.load()
  node.way.trouble = "refuse"
  const saved = state.save("at last")
  await scene.clock.advance(TTL_MS / 2)
  node.way.trouble = undefined
  await scene.clock.advance(RETRY_MS)
  await saved
  expect(await (await next()).state.load()).toBe("at last")
})

test.each([
  ["refuse", "its save was refused"],
  ["lose-request", "the outcome of its save is not known"],
] as const)("a save that meets %s until its node is fenced is given up", async (fault, because) => {
  const { scene, node, state, tenure } = await activated()
  await state.load()
  node.way.trouble = fault
  const saved = state.save("never")
  saved.catch(() => {})
  // It is not given up while its node waits for a renewal.
  await scene.clock.advance(HOLDER_MS + 2 * TTL_MS)
  expect([tenure.mayAct(), tenure.endedBecause]).toEqual([false, undefined])
  await scene.endLease(node.id)
  await scene.clock.advance(RETRY_MS)
  await expect(saved).rejects.toThrow(FencedError)
  await expect(saved).rejects.toThrow(because)
  expect(tenure.mayAct()).toBe(false)
})

test("a save that waits for a renewal past its node's deadline is made once after the renewal", async () => {
  const { scene, node, state, tenure } = await activated()
  await state.load()
  scene.clock.holdUp(10 * TTL_MS)
  node.way.strike("hang")
  const saved = state.save("late")
  await settle()
  // The renewal hangs, and nothing else was sent.
  expect([tenure.mayAct(), await scene.entry(stateKey(alice))]).toEqual([false, undefined])
  await node.way.store.release()
  await saved
  expect(tenure.mayAct()).toBe(true)
  expect(await scene.entry(stateKey(alice))).toBeDefined()
})

test("another epoch of the store ends the activation that loads or saves in it", async () => {
  const loading = await activated()
  loading.node.way.restorable.restore()
  await expect(loading.state.load()).rejects.toThrow(FencedError)
  expect(loading.tenure.mayAct()).toBe(false)
  const saving = await activated()
  await saving.state.load()
  saving.node.way.restorable.restore()
  await expect(saving.state.save(1)).rejects.toThrow(FencedError)
  expect(await saving.scene.entry(stateKey(alice))).toBeUndefined()
})

interface Options {
  readonly shape?: StateShape
  readonly codec?: Codec
  readonly maxStateBytes?: number
  /** The activation before goes on, and does not know. */
  readonly keepsFirst?: boolean
}

interface Activated {
  readonly scene: Scene
  readonly node: SceneNode
  readonly tenure: Tenure
  readonly state: DurableState
  /** The activation that comes after it. */
  next(options?: Options): Promise<Activated>
}

async function activated(options: Options = {}): Promise<Activated> {
  const scene = new Scene()
  return activation(scene, await scene.member(), options)
}

async function activation(scene: Scene, node: SceneNode, options: Options): Promise<Activated> {
  const { shape = { version: 1 }, codec = binaryCodec()(PLAIN), maxStateBytes = 1_000 } = options
  const tenure = await node.tenureOf(alice)
  const stateFormat = () => 2
  const lowestVersion = () => undefined
  const codecs = new StateCodecs(codec)
  const tools = {
    store: node.way.store,
    clock: scene.clock,
    codecs,
    maxStateBytes,
    stateFormat,
    lowestVersion,
  }
  return {
    scene,
    node,
    tenure,
    state: new DurableState(tenure, tools, shape),
    next: async (following = {}) => {
      if (following.keepsFirst !== true) {
        tenure.end("another one follows")
        return activation(scene, node, following)
      }
      const other = await scene.member()
      await scene.commit({ kind: "delete", key: placementKey(alice) })
      return activation(scene, other, following)
    },
  }
}

async function expectProblem(refused: Promise<unknown>, problem: StateError["problem"]): Promise<void> {
  await expect(refused).rejects.toThrow(StateError)
  await expect(refused).rejects.toMatchObject({ problem, actor: `${alice}` })
}

test("what the store cannot be asked to write ends the activation, and is not taken for stored", async () => {
  const { state, tenure, next } = await activated()
  await state.load()
  await state.save({ balance: 1 })
  const key = `kin/${"x".repeat(3_000)}`
  const changes = { writes: [{ kind: "put", key, value: new Uint8Array(0) }], absent: [] } as const
  const value = state.encode({ balance: 2 })
  await expect(state.write({ value, memory: undefined, changes })).rejects.toThrow(FencedError)
  expect(tenure.endedBecause).toBe("its state cannot be written")
  expect(await (await next()).state.load()).toEqual({ balance: 1 })
})

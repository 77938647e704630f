import { expect, test } from "vitest"
import { PLAIN } from "../../test/registry/plain-codec.js"
import { idOf, Scene, type SceneNode } from "../../test/registry/scene.js"
import { FencedError } from "../errors/call-errors.js"
import { StateError } from "../errors/state-error.js"
import type { Write } from "../ports/store.js"
import { binaryCodec } from "../serialization/binary-codec.js"
import { DurableState } from "./durable-state.js"
import { satelliteKey, stateKey } from "./registry-keys.js"
import { StateCodecs } from "./state-codecs.js"
import { decodeState } from "./stored-state.js"

const alice = idOf("alice")
const RETRY_MS = 100
const LARGE = "x".repeat(20_000)
const memory = Buffer.from("what it remembers")

test("a large value is in a chunk, which the next activation reads", async () => {
  const { state, stored, next } = await activated()
  await state.load()
  await state.save(LARGE)
  expect(await stored()).toMatchObject({ chunk: 1, value: Buffer.alloc(0) })
  const later = await next()
  expect(await later.state.load()).toBe(LARGE)
  await later.state.save(`${LARGE}!`)
  expect(await (await next()).state.load()).toBe(`${LARGE}!`)
})

test("a chunk is written again only if the value has changed, and then the one before is deleted", async () => {
  const { state, chunks, next } = await activated()
  await state.load()
  await state.save(LARGE)
  const first = await chunks()
  expect(first.map(({ key }) => key)).toEqual([satelliteKey(alice, "c/1")])
  await state.write({ value: state.encode(LARGE), memory })
  await state.save(LARGE)
  expect(await chunks()).toEqual(first)
  const later = await next()
  await later.state.load()
  await later.state.save(LARGE)
  expect(await chunks()).toEqual(first)
  await later.state.save(`${LARGE}!`)
  expect((await chunks()).map(({ key }) => key)).toEqual([satelliteKey(alice, "c/2")])
})

test("a value that is small again follows its head, and its chunk is deleted", async () => {
  const { state, chunks, stored, next } = await activated()
  await state.load()
  await state.save(LARGE)
  await state.save("small")
  expect([await chunks(), (await stored()).chunk]).toEqual([[], undefined])
  expect(await (await next()).state.load()).toBe("small")
})

test("a chunk that is missing is never taken for nothing", async () => {
  const { scene, state, next } = await activated()
  await state.load()
  await state.save(LARGE)
  await scene.commit({ kind: "delete", key: satelliteKey(alice, "c/1") })
  const later = (await next()).state.load()
  await expect(later).rejects.toThrow(StateError)
  await expect(later).rejects.toThrow("chunk 1 is missing")
})

test("while a node reads only the first format, nothing is remembered and there are no chunks", async () => {
  const { state, chunks, scene, next } = await activated(1)
  await state.load()
  expect(state.mayRemember).toBe(false)
  await state.save(LARGE)
  expect((await scene.entry(stateKey(alice)))?.value[0]).toBe(1)
  expect(await chunks()).toEqual([])
  expect(await (await next()).state.load()).toBe(LARGE)
})

test("what is remembered is read with the state, and kept by saves", async () => {
  const { state, stored, next } = await activated()
  await state.load()
  expect(state.memory).toBeUndefined()
  await state.write({ value: state.encode(1), memory })
  expect(await stored()).toMatchObject({ memory })
  const later = await next()
  expect(await later.state.load()).toBe(1)
  expect(later.state.memory).toEqual(memory)
  await later.state.save(2)
  expect(await stored()).toMatchObject({ memory })
  await later.state.save(LARGE)
  expect(await stored()).toMatchObject({ memory, chunk: 1 })
  await later.state.write({ value: later.state.encode(3), memory: undefined })
  expect((await stored()).memory).toBeUndefined()
})

test("satellites are written and deleted with the state", async () => {
  const { state, next } = await activated()
  await state.load()
  await state.write({
    value: state.encode(1),
    memory,
    changes: { writes: [put("o/a"), put("o/b")], absent: [] },
  })
  const later = await next()
  await later.state.load()
  expect(await later.state.satellites.names("o/", 9)).toEqual(["o/a", "o/b"])
  expect(await later.state.satellites.names("o/", 1)).toEqual(["o/a"])
  expect(Buffer.from((await later.state.satellites.row("o/a")) as Uint8Array).toString()).toBe("of o/a")
  const gone: Write = { kind: "delete", key: satelliteKey(alice, "o/a") }
  await later.state.write({ value: later.state.encode(2), memory, changes: { writes: [gone], absent: [] } })
  expect([await later.state.satellites.row("o/a"), await later.state.satellites.names("o/", 9)]).toEqual([
    undefined,
    ["o/b"],
  ])
})

test("a commit whose guard fails changes nothing, and ends the activation", async () => {
  const { scene, state, tenure } = await activated()
  await state.load()
  const claimed = { writes: [put("o/a")], absent: [satelliteKey(alice, "o/a")] }
  await state.write({ value: state.encode(1), memory, changes: claimed })
  const before = await scene.entry(stateKey(alice))
  await expect(state.write({ value: state.encode(2), memory, changes: claimed })).rejects.toThrow(FencedError)
  expect([tenure.mayAct(), tenure.endedBecause]).toEqual([false, "its save was refused"])
  expect(await scene.entry(stateKey(alice))).toEqual(before)
})

test.each(["lose-answer", "lose-request", "arrive-late"] as const)(
  "a guarded commit that meets %s is made once, and its twin changes nothing",
  async (fault) => {
    const { scene, node, state, chunks, next } = await activated()
    await state.load()
    await state.save(1)
    node.way.strike(fault)
    const guarded = { writes: [put("o/a")], absent: [satelliteKey(alice, "o/a")] }
    const written = state.write({ value: state.encode(LARGE), memory, changes: guarded })
    await scene.clock.advance(RETRY_MS)
    await written
    await state.save("after it")
    await node.way.store.release()
    expect(await chunks()).toEqual([])
    const later = await next()
    expect(await later.state.load()).toBe("after it")
    expect(await later.state.satellites.names("", 9)).toEqual(["o/a"])
  },
)

interface Activated {
  readonly scene: Scene
  readonly node: SceneNode
  readonly tenure: Awaited<ReturnType<SceneNode["tenureOf"]>>
  readonly state: DurableState
  stored(): Promise<ReturnType<typeof decodeState>>
  /** The chunks that are stored. */
  chunks(): Promise<readonly { readonly key: string; readonly revision: number | undefined }[]>
  next(): Promise<Activated>
}

async function activated(format = 2): Promise<Activated> {
  const scene = new Scene()
  return activation(scene, await scene.member(), format)
}

async function activation(scene: Scene, node: SceneNode, format: number): Promise<Activated> {
  const tenure = await node.tenureOf(alice)
  const tools = {
    ...{
      store: node.way.store,
      clock: scene.clock,
      codecs: new StateCodecs(binaryCodec()(PLAIN)),
      lowestVersion: () => undefined,
      maxStateBytes: 100_000,
    },
    stateFormat: () => format,
  }
  return {
    scene,
    node,
    tenure,
    state: new DurableState(tenure, tools, { version: 1 }),
    stored: async () => decodeState((await scene.entry(stateKey(alice)))?.value as Uint8Array),
    chunks: async () => {
      const keys = (await scene.keys()).filter((key) => key.startsWith(satelliteKey(alice, "c/")))
      return Promise.all(keys.map(async (key) => ({ key, revision: (await scene.entry(key))?.revision })))
    },
    next: async () => {
      tenure.end("another one follows")
      return activation(scene, node, format)
    },
  }
}

function put(name: string): Write {
  return { kind: "put", key: satelliteKey(alice, name), value: Buffer.from(`of ${name}`) }
}

import { expect, test } from "vitest"
import { Actor, type ActorHandle, OverloadedError, withOptions } from "../../src/index.js"
import type { Write } from "../../src/ports/store.js"
import { encodeRecord, leaseKey, nodeKey } from "../../src/registry/node-record.js"
import { decodeState } from "../../src/registry/stored-state.js"
import { OperationMemory } from "../../src/virtual/operation-memory.js"
import { play, type Scene } from "../sharding/scene.js"

const MINUTE_MS = 60_000

class Box extends Actor<{ text: string; count: number }> {
  static readonly type = "Box"
  static readonly maxOperations: number = 5
  static readonly methods = {
    fill: { once: true },
    add: { once: { retainMs: MINUTE_MS } },
    answer: { once: true },
    size: { readOnly: true },
  }

  protected override initialState() {
    return { text: "", count: 0 }
  }

  fill(size: number) {
    this.state.text = "x".repeat(size)
  }

  add() {
    this.state.count += 1
    return this.state.count
  }

  answer(size: number) {
    this.state.count += 1
    return `${this.state.count}${"y".repeat(size)}`
  }

  async saveAs(size: number) {
    this.state.text = "x".repeat(size)
    await this.save()
  }

  size() {
    return this.state.text.length
  }

  count() {
    return this.state.count
  }

  end() {
    this.deactivate()
  }
}

class Crowded extends Box {
  static override readonly maxOperations = 1_000
}

/** Calls a box many times in one turn, under names that are derived from its own. */
class Driver extends Actor<null> {
  static readonly type = "Driver"
  static readonly once = true

  protected override initialState() {
    return null
  }

  async burst(count: number) {
    const box = this.actor(Box, "b")
    await Promise.all(Array.from({ length: count }, () => box.add()))
  }
}

function rows(scene: Scene, prefix: string): readonly string[] {
  const start = "shards/kin/Box/b/"
  return scene.stage
    .store()
    .list(start + prefix)
    .entries.map(({ key }) => key.slice(start.length))
}

function head(scene: Scene) {
  const [entry] = scene.stage.store().list("shards/state/Box/b").entries
  return { ...decodeState(entry?.value as Uint8Array), format: entry?.value[0] }
}

const on = <T>(scene: Scene, task: (box: ActorHandle<Box>) => Promise<T>) =>
  scene.on("a", (system) => task(system.actor(Box, "b")))

const named = (scene: Scene, operation: string) => on(scene, (box) => withOptions(box, { operation }).add())

test("a large state is in a chunk, which is written when it changes", async () => {
  await play(async (scene) => {
    await scene.start("a", [Box])
    await on(scene, (box) => box.fill(10_000))
    expect(rows(scene, "c/")).toEqual([])
    await on(scene, (box) => box.fill(40_000))
    expect([rows(scene, "c/"), head(scene).value.length]).toEqual([["c/1"], 0])
    // A throw of a repeat, or an operation that changes nothing, does not write the chunk again.
    await on(scene, (box) => box.fill(40_000))
    expect(rows(scene, "c/")).toEqual(["c/1"])
    await on(scene, (box) => box.saveAs(50_000))
    expect(rows(scene, "c/")).toEqual(["c/2"])
    await on(scene, (box) => box.end())
    expect(await on(scene, (box) => box.size())).toBe(50_000)
    await on(scene, (box) => box.fill(100))
    expect(rows(scene, "c/")).toEqual([])
    await on(scene, (box) => box.end())
    expect(await on(scene, (box) => box.size())).toBe(100)
  })
})

test("no more names are remembered than maxOperations, and known ones are answered", async () => {
  await play(async (scene) => {
    await scene.start("a", [Box])
    for (const name of ["1", "2", "3", "4", "5"]) await named(scene, name)
    await expect(named(scene, "6")).rejects.toThrow(OverloadedError)
    expect([await named(scene, "3"), await on(scene, (box) => box.count())]).toEqual([3, 5])
    expect(await on(scene, (box) => box.add())).toBe(6)
  })
})

test("names are forgotten when their time has come, and each is counted once", async () => {
  await play(async (scene) => {
    await scene.start("a", [Crowded, Driver])
    const burst = (count: number) => scene.on("a", (system) => system.actor(Driver, "d").burst(count))
    await burst(150)
    expect(rows(scene, "o/")).toHaveLength(150)
    scene.stage.shiftClock("a", 2 * MINUTE_MS)
    for (let round = 1; round <= 4; round += 1) {
      await burst(100)
      const counted = OperationMemory.decode(head(scene).memory as Uint8Array).named
      expect([rows(scene, "o/").length, rows(scene, "e/").length]).toEqual([counted, counted])
    }
    // Those of the first burst were deleted, two with each turn.
    expect(rows(scene, "o/").length).toBeLessThan(450)
  })
})

/** Writes or deletes the record and the lease of a node that knows the first format only. */
function changeOldNode(
  scene: Scene,
  change: (old: { key: string; value: Uint8Array }) => Write,
): Promise<void> {
  const node = "10.0.0.9:2550#00000000000000aa"
  return scene.stage.on("a", async (life) => {
    const store = await scene.stage.store().provider(life).open("shards", life.ports)
    const { entries, epoch } = await store.list("leases/")
    const [lease] = entries
    const record = { status: "active", roles: [], types: [], lifeline: undefined } as const
    const writes = [
      change({ key: nodeKey(node), value: encodeRecord(record) }),
      change({ key: leaseKey(node), value: lease?.value as Uint8Array }),
    ]
    expect(await store.commit({ epoch, conditions: [], writes })).toMatchObject({ kind: "committed" })
  })
}

test("states of the first format are read, and others are not written while a node knows only that one", async () => {
  await play(async (scene) => {
    await scene.start("a", [Box])
    await on(scene, (box) => box.saveAs(100))
    expect(head(scene).format).toBe(1)
    await changeOldNode(scene, (old) => ({ kind: "put", ...old }))
    await scene.sleep(200)
    await on(scene, (box) => box.saveAs(30_000))
    expect([head(scene).format, rows(scene, "").length]).toEqual([1, 0])
    await expect(on(scene, (box) => box.fill(1))).rejects.toThrow(OverloadedError)
    expect(await on(scene, (box) => box.size())).toBe(30_000)
    await changeOldNode(scene, ({ key }) => ({ kind: "delete", key }))
    await scene.sleep(200)
    await on(scene, (box) => box.fill(30_001))
    expect([head(scene).format, rows(scene, "c/")]).toEqual([2, ["c/1"]])
  })
})

test("a repeat of a call whose large answer is not stored yet gets that answer", async () => {
  await play(async (scene) => {
    await scene.start("a", [Box])
    const operation = `~${"0".repeat(16)}.7`
    const [, one, two, three] = await on(scene, (box) => {
      const again = withOptions(box, { operation, timeoutMs: 20_000 })
      return Promise.all([box.answer(0), again.answer(1_000), again.answer(1_000), again.answer(1_000)])
    })
    expect([two, three]).toEqual([one, one])
    expect(rows(scene, "a/")).toHaveLength(1)
    expect(await on(scene, (box) => box.count())).toBe(2)
  })
})

import { expect, test } from "vitest"
import { settle } from "../../test/fake/manual-clock.js"
import { HOLDER_MS, OBSERVER_MS, Scene, TTL_MS, type Way } from "../../test/registry/scene.js"
import { NodeId } from "../address/node-id.js"
import { nodeRandom } from "../runtime/node-random.js"
import { Incarnation } from "./incarnation.js"
import { decodeRecord, leaseKey, nodeKey } from "./node-record.js"

test("record and lease come into being together, and the line that the record names is held before", async () => {
  const scene = new Scene()
  const way = await scene.way()
  way.strike("hang")
  const joining = begin(scene, way)
  await settle()
  expect([...scene.lines.held]).toEqual(["line-1"])
  expect(await scene.keys()).toEqual([])
  await way.store.release()
  const { node, record } = (await joining) as Incarnation
  const entry = await scene.entry(nodeKey(node))
  expect(entry?.revision).toBe(record)
  expect((await scene.entry(leaseKey(node)))?.revision).toBe(record)
  expect(decodeRecord(entry?.value as Uint8Array)).toEqual({
    status: "active",
    roles: ["front"],
    types: ["Account"],
    lifeline: "line-1",
  })
})

test.each(["refuse", "lose-answer", "lose-request"] as const)(
  "a join that met %s is none, and its line is let go",
  async (fault) => {
    const scene = new Scene()
    const way = await scene.way()
    way.strike(fault)
    expect(await begin(scene, way)).toBeUndefined()
    expect(scene.lines.held.size).toBe(0)
    expect(scene.clock.pendingTimers).toBe(0)
  },
)

test("the lease is renewed every third of its time, for as long as it lives", async () => {
  const scene = new Scene()
  const way = await scene.way()
  const incarnation = (await begin(scene, way)) as Incarnation
  await scene.clock.advance(10 * TTL_MS)
  expect(incarnation.mayAct()).toBe(true)
  expect(way.calls.filter((kind) => kind === "commit")).toHaveLength(1 + 30)
  expect((await scene.entry(leaseKey(incarnation.node)))?.revision).toBe(31)
  expect((await scene.entry(nodeKey(incarnation.node)))?.revision).toBe(incarnation.record)
})

test.each(["lose-answer", "lose-request", "arrive-late"] as const)(
  "renewals that meet %s now and then do not cost the lease",
  async (fault) => {
    const scene = new Scene()
    const way = await scene.way()
    const incarnation = (await begin(scene, way)) as Incarnation
    for (let round = 0; round < 10; round += 1) {
      way.strike(fault)
      await scene.clock.advance(TTL_MS / 2)
      await way.store.release()
    }
    await scene.clock.advance(TTL_MS)
    expect(incarnation.mayAct()).toBe(true)
  },
)

test("an answer that hangs is not waited for longer than the lease can wait", async () => {
  const scene = new Scene()
  const way = await scene.way()
  const incarnation = (await begin(scene, way)) as Incarnation
  way.strike("hang")
  await scene.clock.advance(HOLDER_MS)
  expect(incarnation.mayAct()).toBe(true)
  await way.store.release()
  await scene.clock.advance(TTL_MS)
  expect(incarnation.mayAct()).toBe(true)
})

test("a store that takes nothing is asked a few times, and then the lease is over", async () => {
  const scene = new Scene()
  const way = await scene.way()
  const incarnation = (await begin(scene, way)) as Incarnation
  way.commitTrouble = "refuse"
  await scene.clock.advance(HOLDER_MS)
  expect(await incarnation.fenced).toBe("the lease could not be renewed in time")
  expect(way.calls.filter((kind) => kind === "commit").length).toBeLessThan(20)
})

test("who asks past the deadline fences it, also before any timer has fired", async () => {
  const scene = new Scene()
  const incarnation = (await begin(scene, await scene.way())) as Incarnation
  scene.clock.holdUp(HOLDER_MS - 1)
  expect(incarnation.mayClaim()).toBe(true)
  scene.clock.holdUp(1)
  expect(incarnation.mayClaim()).toBe(false)
  expect([incarnation.isFencedOff, incarnation.record]).toEqual([true, undefined])
  expect(await incarnation.opened()).toBe(false)
})

test("after the machine stood still all doors wait for a renewal", async () => {
  const scene = new Scene()
  const way = await scene.way()
  const incarnation = (await begin(scene, way)) as Incarnation
  way.strike("hang")
  scene.clock.wallAheadMs = HOLDER_MS
  expect(incarnation.mayAct()).toBe(false)
  expect(incarnation.isFencedOff).toBe(false)
  const opened = incarnation.opened()
  await settle()
  await way.store.release()
  expect(await opened).toBe(true)
  expect(incarnation.mayAct()).toBe(true)
})

test("doors that wait for a renewal that never comes are told so", async () => {
  const scene = new Scene()
  const way = await scene.way()
  const incarnation = (await begin(scene, way)) as Incarnation
  way.trouble = "refuse"
  scene.clock.wallAheadMs = HOLDER_MS
  const opened = incarnation.opened()
  await scene.clock.advance(HOLDER_MS)
  expect(await opened).toBe(false)
})

test("one that leaves says so, and gives up record, lease and line when all has settled", async () => {
  const scene = new Scene()
  const incarnation = (await begin(scene, await scene.way())) as Incarnation
  incarnation.leave()
  await settle()
  const entry = await scene.entry(nodeKey(incarnation.node))
  expect(decodeRecord(entry?.value as Uint8Array)?.status).toBe("leaving")
  expect([incarnation.mayAct(), incarnation.mayClaim()]).toEqual([true, false])
  await incarnation.settled()
  expect([await scene.keys(), scene.lines.held.size, incarnation.mayAct()]).toEqual([[], 0, false])
  expect(scene.clock.pendingTimers).toBe(0)
})

test("what it says while it leaves does not keep it from giving up", async () => {
  const scene = new Scene()
  const incarnation = (await begin(scene, await scene.way())) as Incarnation
  incarnation.leave()
  await incarnation.settled()
  expect(await scene.keys()).toEqual([])
})

test("one that was fenced gives up the lease that it last knew of", async () => {
  const scene = new Scene()
  const way = await scene.way()
  const incarnation = (await begin(scene, way)) as Incarnation
  await scene.clock.advance(TTL_MS)
  scene.clock.holdUp(HOLDER_MS)
  expect(incarnation.mayAct()).toBe(false)
  expect(await scene.keys()).toHaveLength(2)
  await incarnation.settled()
  expect([await scene.keys(), scene.lines.held.size]).toEqual([[], 0])
})

test("where the store does not take it back the lease is left to run out, and the line is let go all the same", async () => {
  const scene = new Scene()
  const way = await scene.way()
  const incarnation = (await begin(scene, way)) as Incarnation
  incarnation.leave()
  await settle()
  way.trouble = "refuse"
  await incarnation.settled()
  expect([(await scene.keys()).length, scene.lines.held.size]).toEqual([2, 0])
  await scene.clock.advance(OBSERVER_MS)
  expect(await scene.keys()).toHaveLength(2)
})

test("a store that was set back ends it, whatever it was about to do", async () => {
  const scene = new Scene()
  const way = await scene.way()
  const incarnation = (await begin(scene, way)) as Incarnation
  way.restorable.restore()
  expect(incarnation.mayAct()).toBe(true)
  await scene.clock.advance(TTL_MS / 3)
  expect(await incarnation.fenced).toBe("the store is not what it was")
})

async function begin(scene: Scene, way: Way): Promise<Incarnation | undefined> {
  const { clock, lines } = scene
  return Incarnation.join(NodeId.fresh("10.0.0.1", 7_000, nodeRandom), way.restorable.epoch, {
    store: way.store,
    clock,
    lifeline: lines,
    terms: { ttlMs: TTL_MS, driftMargin: 0.1 },
    roles: ["front"],
    types: ["Account"],
  })
}

import { expect, test } from "vitest"
import { settle } from "../../test/fake/manual-clock.js"
import { HOLDER_MS, OBSERVER_MS, Scene, TTL_MS, type Way } from "../../test/registry/scene.js"
import { NodeId } from "../address/node-id.js"
import type { ClusterStore } from "../ports/store.js"
import { consoleLogger } from "../runtime/console-logger.js"
import { nodeRandom } from "../runtime/node-random.js"
import { CommitWindows } from "./commit-window.js"
import { Incarnation } from "./incarnation.js"
import { decodeRecord, leaseKey, nodeKey } from "./node-record.js"
import { StoreTroubles } from "./store-troubles.js"
import { STATE_FORMAT } from "./stored-state.js"

test("record and lease are created together, after the lifeline that the record names is held", async () => {
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
    stateFormat: STATE_FORMAT,
  })
})

test.each(["refuse", "lose-answer", "lose-request"] as const)(
  "a join that meets %s fails, and releases its lifeline",
  async (fault) => {
    const scene = new Scene()
    const way = await scene.way()
    way.strike(fault)
    expect(await begin(scene, way)).toBeUndefined()
    expect(scene.lines.held.size).toBe(0)
    expect(scene.clock.pendingTimers).toBe(0)
  },
)

test("the lease is renewed every third of its ttl", async () => {
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
  "renewals that sometimes meet %s do not lose the lease",
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

test("a renewal that hangs is given up in time for another attempt", async () => {
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

test.each([900, 1_300, 2_900, 4_000])(
  "a store that answers every commit after %d ms does not lose the lease",
  async (answerMs) => {
    const scene = new Scene()
    const way = await scene.way()
    const incarnation = (await begin(scene, way, slow(way.store, scene, answerMs))) as Incarnation
    await scene.clock.advance(20 * TTL_MS)
    expect(incarnation.isFencedOff).toBe(false)
    expect(await opens(scene, incarnation)).toBe(true)
  },
)

test("a store that answers every commit and every read after 900 ms keeps the doors open all the time", async () => {
  const scene = new Scene()
  const way = await scene.way()
  const incarnation = (await begin(scene, way, slow(way.store, scene, 900, 900))) as Incarnation
  for (let round = 0; round < 1_000; round += 1) {
    await scene.clock.advance(100)
    expect(incarnation.mayAct(), `after ${round} rounds`).toBe(true)
  }
})

test("a store that refuses commits is retried with pauses, and the doors stay shut until a renewal is made", async () => {
  const scene = new Scene()
  const way = await scene.way()
  const incarnation = (await begin(scene, way)) as Incarnation
  way.commitTrouble = "refuse"
  await scene.clock.advance(HOLDER_MS)
  expect(incarnation.mayAct()).toBe(false)
  expect(way.calls.filter((kind) => kind === "commit").length).toBeLessThan(20)
  const opened = incarnation.opened()
  await scene.clock.advance(60_000)
  // A check of the doors does not make the node ask more often.
  for (let knock = 0; knock < 100; knock += 1) expect(incarnation.mayAct()).toBe(false)
  await settle()
  expect(way.calls.filter((kind) => kind === "commit").length).toBeLessThan(340)
  way.commitTrouble = undefined
  await scene.clock.advance(250)
  expect(await opened).toBe(true)
  expect([incarnation.isFencedOff, incarnation.mayClaim()]).toEqual([false, true])
})

test("past the deadline doors are shut, even before a timer has fired, and a renewal opens them again", async () => {
  const scene = new Scene()
  const way = await scene.way()
  const incarnation = (await begin(scene, way)) as Incarnation
  const { record } = incarnation
  scene.clock.holdUp(HOLDER_MS - 1)
  expect(incarnation.mayClaim()).toBe(true)
  way.strike("hang")
  scene.clock.holdUp(60_000)
  expect(incarnation.mayClaim()).toBe(false)
  const opened = incarnation.opened()
  await settle()
  // Sent, and not confirmed.
  expect([incarnation.mayAct(), incarnation.isFencedOff]).toEqual([false, false])
  await way.store.release()
  expect(await opened).toBe(true)
  expect([incarnation.mayClaim(), incarnation.record]).toEqual([true, record])
})

test("past the deadline an incarnation whose lease was ended is fenced", async () => {
  const scene = new Scene()
  const incarnation = (await begin(scene, await scene.way())) as Incarnation
  scene.clock.holdUp(HOLDER_MS)
  await scene.endLease(incarnation.node)
  expect(incarnation.mayAct()).toBe(false)
  expect(await incarnation.opened()).toBe(false)
  expect(await incarnation.fenced).toBe("the lease was ended by another node")
})

test("after the machine was suspended all doors wait for a renewal", async () => {
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

test("doors that wait for a renewal are notified if it never comes", async () => {
  const scene = new Scene()
  const way = await scene.way()
  const incarnation = (await begin(scene, way)) as Incarnation
  way.trouble = "refuse"
  scene.clock.wallAheadMs = HOLDER_MS
  const opened = incarnation.opened()
  await scene.clock.advance(10 * TTL_MS)
  incarnation.abandon()
  expect(await opened).toBe(false)
})

test("a leaving incarnation announces it, and gives up record, lease and lifeline at the end", async () => {
  const scene = new Scene()
  const incarnation = (await begin(scene, await scene.way())) as Incarnation
  incarnation.leave()
  await settle()
  const entry = await scene.entry(nodeKey(incarnation.node))
  expect(decodeRecord(entry?.value as Uint8Array)?.status).toBe("leaving")
  expect([incarnation.mayAct(), incarnation.mayClaim()]).toEqual([true, false])
  await incarnation.giveUp()
  expect([await scene.keys(), scene.lines.held.size, incarnation.mayAct()]).toEqual([[], 0, false])
  expect(scene.clock.pendingTimers).toBe(0)
})

test("an announcement in flight does not keep the lease from being given up", async () => {
  const scene = new Scene()
  const incarnation = (await begin(scene, await scene.way())) as Incarnation
  incarnation.leave()
  await incarnation.giveUp()
  expect(await scene.keys()).toEqual([])
})

test("a fenced incarnation gives up the lease at its last known revision", async () => {
  const scene = new Scene()
  const way = await scene.way()
  const incarnation = (await begin(scene, way)) as Incarnation
  await scene.clock.advance(TTL_MS)
  incarnation.abandon()
  expect(incarnation.mayAct()).toBe(false)
  expect(await scene.keys()).toHaveLength(2)
  await incarnation.giveUp()
  expect([await scene.keys(), scene.lines.held.size]).toEqual([[], 0])
})

test("if the store does not answer, the lease is left to expire, and the lifeline is released all the same", async () => {
  const scene = new Scene()
  const way = await scene.way()
  const incarnation = (await begin(scene, way)) as Incarnation
  incarnation.leave()
  await settle()
  way.trouble = "refuse"
  await incarnation.giveUp()
  expect([(await scene.keys()).length, scene.lines.held.size]).toEqual([2, 0])
  await scene.clock.advance(OBSERVER_MS)
  expect(await scene.keys()).toHaveLength(2)
})

test("another epoch of the store fences an incarnation in every state", async () => {
  const scene = new Scene()
  const way = await scene.way()
  const incarnation = (await begin(scene, way)) as Incarnation
  way.restorable.restore()
  expect(incarnation.mayAct()).toBe(true)
  await scene.clock.advance(TTL_MS / 3)
  expect(await incarnation.fenced).toBe("the epoch of the store has changed")
})

async function begin(
  scene: Scene,
  way: Way,
  store: ClusterStore = way.store,
): Promise<Incarnation | undefined> {
  const { clock, lines } = scene
  // A slow store answers only while time goes by.
  const joining = join(clock, lines, way, store)
  if (store !== way.store) await clock.advance(TTL_MS)
  return joining
}

/** One whose answers, to commits and to reads, take their time. */
function slow(store: ClusterStore, { clock }: Scene, commitMs: number, readMs = 0): ClusterStore {
  const later = async <T>(ms: number, answer: Promise<T>): Promise<T> => {
    if (ms > 0) await new Promise<void>((resolve) => clock.setTimer(ms, resolve))
    return answer
  }
  return {
    identity: store.identity,
    get: (key) => later(readMs, store.get(key)),
    list: (prefix, options) => store.list(prefix, options),
    commit: (commit) => later(commitMs, store.commit(commit)),
    watch: (prefix, from, watcher) => store.watch(prefix, from, watcher),
    close: () => store.close(),
  }
}

/** As long as a few answers take. */
async function opens({ clock }: Scene, incarnation: Incarnation): Promise<boolean> {
  const opened = incarnation.opened()
  await clock.advance(3 * TTL_MS)
  return opened
}

const quiet = consoleLogger({ level: "error", write: () => {} })

function join(
  clock: Scene["clock"],
  lines: Scene["lines"],
  way: Way,
  store: ClusterStore,
): Promise<Incarnation | undefined> {
  return Incarnation.join(NodeId.fresh("10.0.0.1", 7_000, nodeRandom), way.restorable.epoch, {
    store,
    clock,
    logger: quiet,
    troubles: new StoreTroubles(quiet, clock),
    windows: new CommitWindows(),
    doors: { shut: () => {}, turnedAway: () => {}, decided: () => {} },
    lifeline: lines,
    terms: { ttlMs: TTL_MS, driftMargin: 0.1 },
    roles: ["front"],
    types: ["Account"],
  })
}

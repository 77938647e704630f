import { expect, test } from "vitest"
import { settle } from "../../test/fake/manual-clock.js"
import {
  HOLDER_MS,
  idOf,
  OBSERVER_MS,
  Scene,
  type SceneNode,
  TTL_MS,
  told,
} from "../../test/registry/scene.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import { renewEveryMs } from "./lease-terms.js"
import { placementKey } from "./registry-keys.js"

const alice = idOf("alice")
const RENEW_EVERY_MS = renewEveryMs({ ttlMs: TTL_MS, driftMargin: 0.1 })

test("an actor that no node has is claimed, and registering it again changes nothing", async () => {
  const scene = new Scene()
  const node = await scene.member()
  const tenure = await node.tenureOf(alice)
  expect(await scene.text(placementKey(alice))).toBe(node.id)
  expect((await scene.entry(placementKey(alice)))?.revision).toBe(tenure.generation)
  expect([tenure.mayBegin(), tenure.mayAct()]).toEqual([true, true])
  const calls = node.way.calls.length
  const again = await node.registry.register(alice)
  expect(again).toEqual({ kind: "acquired", tenure })
  expect(node.way.calls.length).toBe(calls)
  expect([...node.registry.tenures()]).toEqual([tenure])
})

test("concurrent registrations of one actor share one claim", async () => {
  const scene = new Scene()
  const node = await scene.member()
  const calls = node.way.calls.length
  const [first, second] = await Promise.all([node.registry.register(alice), node.registry.register(alice)])
  expect(second).toBe(first)
  expect(node.way.calls.slice(calls)).toEqual(["commit"])
})

test("of two nodes that claim at the same time one has the actor, and the other learns which", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  expect(await b.registry.lookup(alice)).toBeUndefined()
  const decisions = await Promise.all([a.registry.register(alice), b.registry.register(alice)])
  expect(decisions.map(told)).toEqual(["here", "at 7001"])
  expect(decisions[1]).toMatchObject({ because: { kind: "owned", node: a.registry.node } })
  expect(b.registry.tenure(alice)).toBeUndefined()
})

test("an actor that another node is known to have is not claimed", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  const { generation } = await a.tenureOf(alice)
  expect(await b.registry.lookup(alice)).toMatchObject({ node: a.registry.node, generation })
  expect(b.registry.cached(alice)).toMatchObject({ kind: "placed", generation })
  expect(told(await b.registry.register(alice))).toBe("at 7001")
})

test("a claim whose answer was lost is claimed again, with a new generation", async () => {
  const scene = new Scene()
  const node = await scene.member()
  node.way.strike("lose-answer")
  const tenure = await node.tenureOf(alice)
  expect(await scene.entry(placementKey(alice))).toMatchObject({ revision: tenure.generation })
  // That of the join, of the claim that was lost, and of this one.
  expect(tenure.generation).toBe(3)
})

test("a claim that arrives after a second one is refused", async () => {
  const scene = new Scene()
  const node = await scene.member()
  node.way.strike("arrive-late")
  const { generation } = await node.tenureOf(alice)
  await node.way.store.release()
  expect(await scene.entry(placementKey(alice))).toMatchObject({ revision: generation })
})

test("while the store is away nothing is claimed, and an actor is claimed once it is back", async () => {
  const scene = new Scene()
  const node = await scene.member()
  node.way.trouble = "refuse"
  expect(told(await node.registry.register(alice))).toBe("denied: unavailable")
  await expect(node.registry.lookup(alice)).rejects.toThrow(StoreUnavailableError)
  node.way.trouble = undefined
  expect(told(await node.registry.register(alice))).toBe("here")
})

test("a known placement is looked up in the cache, an unknown one is read once", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  await a.tenureOf(alice)
  await settle()
  expect(b.registry.cached(alice)).toBeUndefined()
  const calls = b.way.calls.length
  for (const _ of [1, 2]) expect((await b.registry.lookup(alice))?.node).toEqual(a.registry.node)
  expect(b.way.calls.slice(calls)).toEqual(["get"])
})

test("a claim and a release are not reported to other nodes, and the end of a node is", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  const tenure = await a.tenureOf(alice)
  await b.registry.lookup(alice)
  await a.registry.unregister(tenure)
  await settle()
  expect(b.registry.cached(alice)).toMatchObject({ kind: "placed", generation: tenure.generation })
  await a.registry.stop()
  await settle()
  expect(b.registry.cached(alice)).toBeUndefined()
})

test("an actor that nobody has is expected on the node that is called for it", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  b.registry.expect(alice, a.registry.node)
  expect(b.registry.cached(alice)).toBeUndefined()
  await b.registry.lookup(alice)
  b.registry.expect(alice, a.registry.node)
  expect(b.registry.cached(alice)).toMatchObject({ kind: "placed", node: a.registry.node })
  const { generation } = await a.tenureOf(alice)
  expect(await b.registry.read(alice)).toMatchObject({ generation })
})

test("a release shuts the doors before it is sent, and another node can claim the actor at once", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  const tenure = await a.tenureOf(alice)
  await settle()
  const released = a.registry.unregister(tenure)
  expect([tenure.mayBegin(), tenure.mayAct(), tenure.endedBecause]).toEqual([false, false, "it was released"])
  expect(await released).toBe("released")
  expect(await scene.entry(placementKey(alice))).toBeUndefined()
  expect(a.registry.cached(alice)?.kind).toBe("absent")
  expect(told(await b.registry.register(alice))).toBe("here")
})

test("a release of an earlier generation changes nothing", async () => {
  const scene = new Scene()
  const node = await scene.member()
  const first = await node.tenureOf(alice)
  first.end("it failed")
  const second = await node.tenureOf(alice)
  expect(second.generation).toBeGreaterThan(first.generation)
  expect(await node.registry.unregister(first)).toBe("changed")
  expect(node.registry.tenure(alice)).toBe(second)
  expect([second.mayAct(), (await scene.entry(placementKey(alice)))?.revision]).toEqual([
    true,
    second.generation,
  ])
})

test.each(["lose-answer", "lose-request"] as const)(
  "after a release that meets %s the actor is claimed anew",
  async (fault) => {
    const scene = new Scene()
    const node = await scene.member()
    const first = await node.tenureOf(alice)
    node.way.strike(fault)
    expect(await node.registry.unregister(first)).toBe("unknown")
    const second = await node.tenureOf(alice)
    expect(second.generation).toBeGreaterThan(first.generation)
    expect(second.mayBegin()).toBe(true)
  },
)

test("a node without the store acts until its deadline, waits, and is fenced when it finds that its lease was ended", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  const before = a.id
  const tenure = await a.tenureOf(alice)
  a.way.trouble = "refuse"
  await scene.clock.advance(HOLDER_MS - 1)
  expect([tenure.mayBegin(), a.registry.mayAct()]).toEqual([true, true])
  await scene.clock.advance(1)
  expect([tenure.mayBegin(), tenure.mayAct(), a.registry.mayAct()]).toEqual([false, false, false])
  expect(a.told).toEqual([])
  expect(a.registry.tenure(alice)).toBe(tenure)
  const claimed = a.registry.register(idOf("bob"))
  expect(told(await b.registry.register(alice))).toBe("at 7001")
  await scene.clock.advance(OBSERVER_MS - HOLDER_MS)
  expect(b.view).toEqual(["7002 up"])
  expect(told(await b.registry.register(alice))).toBe("here")
  expect(tenure.mayAct()).toBe(false)
  a.way.trouble = undefined
  await scene.clock.advance(2_500)
  expect(a.told).toEqual(["fenced: the lease was ended by another node", "rejoined"])
  expect([tenure.mayAct(), a.registry.tenure(alice)]).toEqual([false, undefined])
  expect(told(await claimed)).toBe("denied: fenced")
  expect(a.id).not.toBe(before)
  for (const { view } of [a, b]) expect(view).toEqual(["7001 up", "7002 up"])
  expect(told(await a.registry.register(alice))).toBe("at 7002")
})

test("a node alone keeps its tenures however long the store is away, or its process blocked", async () => {
  const scene = new Scene()
  const node = await scene.member()
  const before = node.id
  const tenure = await node.tenureOf(alice)
  node.way.trouble = "hang"
  await scene.clock.advance(10 * 60_000)
  expect([tenure.mayAct(), node.registry.mayAct(), node.told]).toEqual([false, false, []])
  const opened = tenure.opened()
  node.way.trouble = undefined
  await scene.clock.advance(1_000)
  expect([await opened, tenure.mayBegin(), node.id]).toEqual([true, true, before])
  scene.clock.holdUp(10 * 60_000)
  expect(tenure.mayBegin()).toBe(false)
  expect(await tenure.opened()).toBe(true)
  expect([tenure.mayBegin(), node.told]).toEqual([true, []])
})

test.each([
  ["the older", 0],
  ["the newer", 1],
] as const)(
  "after an outage in which commits were kept back no node is ended, if %s is the first to be served",
  async (_, first) => {
    const scene = new Scene()
    const older = await scene.member()
    // The lease of the older is due for the newer before the newer's own has expired.
    await scene.clock.advance(0.9 * RENEW_EVERY_MS)
    const nodes = [older, await scene.member()]
    const before = nodes.map(({ id }) => id)
    await scene.clock.advance(RENEW_EVERY_MS)
    for (const { way } of nodes) way.trouble = "hang"
    await scene.clock.advance(3 * TTL_MS)
    for (const { way } of nodes) way.trouble = undefined
    for (const { way } of [nodes[first], nodes[1 - first]] as SceneNode[]) {
      await way.store.release()
      await settle()
    }
    await scene.clock.advance(2 * TTL_MS)
    expect(nodes.map(({ id }) => id)).toEqual(before)
    expect(nodes.map(({ told }) => told)).toEqual([[], []])
  },
)

test("claims wait for a renewal, and are made once each after it", async () => {
  const scene = new Scene()
  const node = await scene.member()
  scene.clock.holdUp(10 * TTL_MS)
  node.way.strike("hang")
  const before = commitsOf(node)
  const claims = Array.from({ length: 2_000 }, (_, index) => node.registry.register(idOf(`${index}`)))
  await settle()
  expect(commitsOf(node) - before).toBe(1)
  await node.way.store.release()
  for (const decision of await Promise.all(claims)) expect(told(decision)).toBe("here")
  expect(commitsOf(node) - before).toBe(2_001)
})

test("down changes nothing for a node that is gone, and reports an unknown outcome", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  const gone = a.registry.node
  b.way.strike("lose-request")
  expect(await b.registry.down(gone)).toBe("unknown")
  await a.registry.stop()
  await settle()
  expect(await b.registry.down(gone)).toBe("changed")
  expect(b.view).toEqual(["7002 up"])
})

test("the number of claims in flight is limited, and a fence takes back those that wait", async () => {
  const scene = new Scene()
  const node = await scene.member()
  const before = commitsOf(node)
  node.way.commitTrouble = "hang"
  const decisions = Array.from({ length: 3_000 }, (_, index) => node.registry.register(idOf(`${index}`)))
  await settle()
  expect(commitsOf(node) - before).toBe(1_024)
  const outcomes = decisions.slice(1_024)
  await scene.endLease(node.id)
  for (const decision of await Promise.all(outcomes)) expect(told(decision)).toBe("denied: fenced")
  // Beside them its next life's join, and the giving up of what is left of this one.
  expect(commitsOf(node) - before).toBe(1_026)
})

test("claims that wait are made in the order of their calls, each with one commit", async () => {
  const scene = new Scene()
  const node = await scene.member()
  const before = commitsOf(node)
  const asked = Array.from({ length: 3_000 }, (_, index) => idOf(`${index}`))
  const tenures = await Promise.all(asked.map((id) => node.tenureOf(id)))
  expect(commitsOf(node) - before).toBe(3_000)
  const generations = tenures.map(({ generation }) => generation)
  expect(generations).toEqual([...generations].sort((one, other) => one - other))
  const released = await Promise.all(tenures.map((tenure) => node.registry.unregister(tenure)))
  expect(new Set(released)).toEqual(new Set(["released"]))
  expect(await scene.keys("placements/")).toEqual([])
})

test("a placement that another node reports is believed if it is newer", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  const { generation } = await a.tenureOf(alice)
  await b.registry.read(alice)
  const { epoch } = b.way.restorable
  const newer = { kind: "placed", node: b.registry.node, generation: generation + 5 } as const
  b.registry.misdirected(alice, epoch, { ...newer, generation: generation - 1 })
  expect(b.registry.cached(alice)).toMatchObject({ node: a.registry.node })
  b.registry.misdirected(alice, "another epoch", newer)
  expect(b.registry.cached(alice)).toMatchObject({ node: a.registry.node })
  b.registry.misdirected(alice, epoch, newer)
  expect(b.registry.cached(alice)).toEqual(newer)
})

function commitsOf({ way }: SceneNode): number {
  return way.calls.filter((kind) => kind === "commit").length
}

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
import type { Lifeline } from "../ports/lifeline.js"
import { leaseKey, nodeKey } from "./node-record.js"
import { placementKey } from "./registry-keys.js"

const alice = idOf("alice")

test("a node that has joined is up in its own view, and in those of the others", async () => {
  const scene = new Scene()
  const a = await scene.member({ roles: ["front"], types: ["Account"] })
  const b = await scene.member()
  for (const { view } of [a, b]) expect(view).toEqual(["7001 up", "7002 up"])
  expect(b.registry.view.member(a.id)).toMatchObject({ roles: ["front"], types: ["Account"] })
  expect(a.registry.mayAct()).toBe(true)
})

test("a node that the store does not let join says so, and leaves nothing running", async () => {
  const scene = new Scene()
  const node = await scene.node()
  node.way.commitTrouble = "refuse"
  const joining = node.join()
  joining.catch(() => {})
  await scene.clock.advance(10_000)
  await expect(joining).rejects.toThrow(StoreUnavailableError)
  await expect(joining).rejects.toThrow("did not confirm within 2000 ms")
  expect(scene.clock.pendingTimers).toBe(0)
})

test("a store that does not say who is there lets nobody join", async () => {
  const scene = new Scene()
  const node = await scene.node()
  node.way.trouble = "refuse"
  await expect(node.join()).rejects.toThrow(StoreUnavailableError)
  expect(scene.clock.pendingTimers).toBe(0)
})

test("a join whose answer was lost is tried again as another incarnation, and the first one's lease runs out", async () => {
  const scene = new Scene()
  const node = await scene.node()
  node.way.strike("lose-answer")
  const joining = node.join()
  await scene.clock.advance(200)
  const registry = await joining
  expect(await scene.keys("nodes/")).toHaveLength(2)
  expect(registry.mayAct()).toBe(true)
  await scene.clock.advance(OBSERVER_MS)
  expect(await scene.keys()).toEqual([leaseKey(registry.node), nodeKey(registry.node)])
  expect(node.told).toEqual([])
})

test("an actor that nobody has comes here, and asking again changes nothing", async () => {
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
  expect([...node.registry.tenures]).toEqual([tenure])
})

test("those who ask for one actor at the same time share one claim", async () => {
  const scene = new Scene()
  const node = await scene.member()
  const calls = node.way.calls.length
  const [first, second] = await Promise.all([node.registry.register(alice), node.registry.register(alice)])
  expect(second).toBe(first)
  expect(node.way.calls.slice(calls)).toEqual(["commit"])
})

test("of two nodes that claim at the same time one has it, and the other is told who", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  expect(await b.registry.lookup(alice)).toBeUndefined()
  const decisions = await Promise.all([a.registry.register(alice), b.registry.register(alice)])
  expect(decisions.map(told)).toEqual(["here", "at 7001"])
  expect(decisions[1]).toMatchObject({ because: { kind: "owned", node: a.registry.node } })
  expect(b.registry.tenure(alice)).toBeUndefined()
})

test("what another node is known to have is not claimed", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  const { generation } = await a.tenureOf(alice)
  await settle()
  expect(b.registry.cached(alice)).toMatchObject({ kind: "placed", generation })
  expect(told(await b.registry.register(alice))).toBe("at 7001")
  expect(await b.registry.lookup(alice)).toMatchObject({ node: a.registry.node, generation })
})

test("a claim whose answer was lost is taken over from itself, with a generation of its own", async () => {
  const scene = new Scene()
  const node = await scene.member()
  node.way.strike("lose-answer")
  const tenure = await node.tenureOf(alice)
  expect(await scene.entry(placementKey(alice))).toMatchObject({ revision: tenure.generation })
  // That of the join, of the claim that was lost, and of this one.
  expect(tenure.generation).toBe(3)
})

test("a claim that arrives late, after a second one, is refused by it", async () => {
  const scene = new Scene()
  const node = await scene.member()
  node.way.strike("arrive-late")
  const { generation } = await node.tenureOf(alice)
  await node.way.store.release()
  expect(await scene.entry(placementKey(alice))).toMatchObject({ revision: generation })
})

test("while the store is away nothing is claimed, and afterwards it is", async () => {
  const scene = new Scene()
  const node = await scene.member()
  node.way.trouble = "refuse"
  expect(told(await node.registry.register(alice))).toBe("denied: unavailable")
  await expect(node.registry.lookup(alice)).rejects.toThrow(StoreUnavailableError)
  node.way.trouble = undefined
  expect(told(await node.registry.register(alice))).toBe("here")
})

test("what is known is looked up without asking the store, what is not is read once", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  expect(await b.registry.lookup(alice)).toBeUndefined()
  await a.tenureOf(alice)
  await settle()
  const calls = b.way.calls.length
  expect((await b.registry.lookup(alice))?.node).toEqual(a.registry.node)
  expect(b.way.calls.length).toBe(calls)
  b.way.restorable.miss()
  await settle()
  expect(b.registry.cached(alice)).toBeUndefined()
  expect((await b.registry.lookup(alice))?.node).toEqual(a.registry.node)
  expect(b.registry.cached(alice)).toMatchObject({ kind: "placed" })
})

test("a release shuts the doors before it is sent, and lets others have the actor at once", async () => {
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

test("a release of what somebody else has by now changes nothing", async () => {
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
  "after a release that met %s the actor is claimed anew",
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

test("a node without the store goes on until its deadline, waits, and is fenced when it finds that its lease was ended", async () => {
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

test("a node that nobody else watches keeps its tenures however long the store is away, or its process blocked", async () => {
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

test("claims wait for a renewal too, and are made after it, each once", async () => {
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

test("a fenced node gives its lease up once its last turn has ended, and not before", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  const before = a.id
  let ended = () => {}
  a.turns = new Promise((resolve) => {
    ended = resolve
  })
  expect(await b.registry.down(a.registry.node)).toBe("downed")
  await scene.clock.advance(200)
  expect(a.told).toEqual(["fenced: another node has declared this one down", "rejoined"])
  expect(b.registry.view.has(before)).toBe(true)
  ended()
  await settle()
  expect(b.registry.view.has(before)).toBe(false)
  expect(await scene.entry(leaseKey(before))).toBeUndefined()
})

test("a leaving node is seen to leave, takes nothing new, and ends what it has begun", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  const tenure = await a.tenureOf(alice)
  a.registry.leave()
  await settle()
  expect(b.view).toEqual(["7001 leaving", "7002 up"])
  expect(told(await a.registry.register(idOf("bob")))).toBe("denied: leaving")
  expect([tenure.mayBegin(), tenure.mayAct()]).toEqual([false, true])
  expect(told(await b.registry.register(alice))).toBe("at 7001")
  expect(await a.registry.unregister(tenure)).toBe("released")
  await scene.clock.advance(2 * TTL_MS)
  expect(b.view).toEqual(["7001 leaving", "7002 up"])
  await a.registry.stop()
  await settle()
  expect(b.view).toEqual(["7002 up"])
  expect(a.told).toEqual([])
})

test("a node that is stopped leaves nothing in the store and nothing running, and others have its actors at once", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  const before = a.id
  const tenure = await a.tenureOf(alice)
  await settle()
  await a.registry.stop()
  expect([tenure.mayAct(), tenure.endedBecause]).toEqual([false, "its node is fenced: it has left"])
  expect(await scene.keys()).not.toContain(nodeKey(before))
  expect(await scene.keys()).not.toContain(leaseKey(before))
  await settle()
  expect(told(await b.registry.register(alice))).toBe("here")
  await b.registry.stop()
  expect(scene.clock.pendingTimers).toBe(0)
  expect(a.told).toEqual([])
})

test("a node that is stopped while it joins again leaves nothing behind", async () => {
  const scene = new Scene()
  const node = await scene.member()
  node.way.trouble = "hang"
  await scene.endLease(node.id)
  await scene.clock.advance(2_000)
  expect(node.told).toHaveLength(1)
  const stopped = node.registry.stop()
  node.way.trouble = undefined
  await node.way.store.release()
  await stopped
  await settle()
  expect(await scene.keys("nodes/")).toEqual([])
  expect(scene.clock.pendingTimers).toBe(0)
  expect(node.told).toHaveLength(1)
})

test("a node that is stopped while it waits to join again ends at once", async () => {
  const scene = new Scene()
  const node = await scene.member()
  node.way.trouble = "refuse"
  await scene.endLease(node.id)
  await scene.clock.advance(5_000)
  expect(node.told).toEqual(["fenced: the lease was ended by another node"])
  await node.registry.stop()
  expect(scene.clock.pendingTimers).toBe(0)
})

test("a node that is stopped while it waits for a renewal ends at once, and leaves its lease to run out", async () => {
  const scene = new Scene()
  const node = await scene.member()
  const tenure = await node.tenureOf(alice)
  node.way.trouble = "refuse"
  await scene.clock.advance(HOLDER_MS + 5_000)
  const opened = tenure.opened()
  await node.registry.stop()
  expect(await opened).toBe(false)
  expect(scene.clock.pendingTimers).toBe(0)
})

test("a node that is declared down is fenced, and comes back as another one", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  const before = a.registry.node
  const tenure = await a.tenureOf(alice)
  expect(await b.registry.down(before)).toBe("downed")
  await settle()
  expect(a.told[0]).toBe("fenced: another node has declared this one down")
  expect(tenure.mayAct()).toBe(false)
  await scene.clock.advance(500)
  expect(a.told).toContain("rejoined")
  expect(b.registry.view.has(before)).toBe(false)
  expect(b.view).toEqual(["7001 up", "7002 up"])
})

test("nobody is declared down who is not there, or of whom the store does not say so", async () => {
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

test("a node whose record is gone finds that out when a claim is refused", async () => {
  const scene = new Scene()
  const node = await scene.member()
  const before = node.id
  node.way.restorable.isDeaf = true
  await scene.commit({ kind: "delete", key: nodeKey(before) }, { kind: "delete", key: leaseKey(before) })
  expect(node.registry.mayAct()).toBe(true)
  expect(told(await node.registry.register(alice))).toBe("denied: fenced")
  await settle()
  expect(node.told[0]).toBe("fenced: the lease was ended by another node")
  expect(node.told).toContain("rejoined")
  expect(told(await node.registry.register(alice))).toBe("here")
})

test("a store that was set back fences everybody, and all begin anew in its new epoch", async () => {
  const scene = new Scene()
  const node = await scene.member()
  const before = node.id
  const tenure = await node.tenureOf(alice)
  node.way.restorable.restore()
  expect(await settledTo(node, "fenced: the store is not what it was")).toBe(true)
  expect(tenure.mayAct()).toBe(false)
  expect(node.registry.cached(alice)).toBeUndefined()
  await scene.clock.advance(OBSERVER_MS + 500)
  expect(node.told.at(-1)).toBe("rejoined")
  expect(node.id).not.toBe(before)
  expect(node.view).toEqual(["7001 up"])
  expect(told(await node.registry.register(alice))).toBe("here")
})

test("a node hands the store so many claims at once, and one that is fenced takes back those that wait", async () => {
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

test("claims that wait for others are made in the order in which they were asked for, each with one commit", async () => {
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

test("a node that the store keeps from renewing says why: in the log once, and as the cause of its fence", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  const tenure = await a.tenureOf(alice)
  a.way.trouble = "refuse"
  await scene.clock.advance(OBSERVER_MS + 100)
  expect(b.view).toEqual(["7002 up"])
  expect(a.log).toEqual([
    "warn the store did not do what it was asked",
    "warn the lease was not renewed in time; actors wait for the store to renew or refuse it",
    "warn this node is fenced; it joins again as a new incarnation",
  ])
  expect(a.fields[0]).toMatchObject({ asked: "renew the lease", error: tenure.endCause })
  expect(a.fields[2]).toEqual({ because: "the lease was ended by another node", error: tenure.endCause })
  expect(tenure.endCause?.message).toBe("a planned fault: refuse")
})

test("says once whether its death can be proved, and if not why", async () => {
  const scene = new Scene()
  const proved = await scene.member({ lifeline: scene.lines })
  await scene.endLease(proved.id)
  await scene.clock.advance(2_500)
  expect(proved.told).toContain("rejoined")
  expect(proved.log.filter((line) => line.startsWith("info"))).toEqual([
    "info other nodes of this host are told at once if this process dies",
  ])
  const none: Lifeline = {
    hold: async () => ({
      mark: undefined,
      because: "the path is too long; set TMPDIR",
      release: async () => {},
    }),
    follow: () => ({ cancel: () => {} }),
  }
  const unproved = await scene.member({ lifeline: none })
  expect(unproved.log).toEqual([
    "warn if this process dies, other nodes know only when its lease has run out",
  ])
  expect(unproved.fields).toEqual([{ because: "the path is too long; set TMPDIR", afterMs: OBSERVER_MS }])
  expect((await scene.member()).log).toEqual([])
})

test("a node whose event loop was blocked says for how long", async () => {
  const scene = new Scene()
  const node = await scene.member()
  const tenure = await node.tenureOf(alice)
  scene.clock.holdUp(7_000 + TTL_MS / 3)
  expect(await tenure.opened()).toBe(true)
  expect(node.log).toEqual([
    "warn the event loop was blocked, or the process was stopped",
    "warn the lease was not renewed in time; actors wait for the store to renew or refuse it",
    "info the lease is renewed, and nobody had ended it; actors go on",
  ])
  expect(node.fields[0]).toEqual({ blockedMs: 7_000 })
})

test("what another node said of an actor is believed if it is newer", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  const { generation } = await a.tenureOf(alice)
  await settle()
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

async function settledTo(node: SceneNode, what: string): Promise<boolean> {
  await settle()
  return node.told.includes(what)
}

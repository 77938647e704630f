import { expect, test } from "vitest"
import { settle } from "../../test/fake/manual-clock.js"
import {
  HOLDER_MS,
  idOf,
  JOIN_MS,
  OBSERVER_MS,
  Scene,
  type SceneNode,
  TTL_MS,
  told,
} from "../../test/registry/scene.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { Lifeline } from "../ports/lifeline.js"
import type { ClusterTerms } from "./cluster-terms.js"
import { leaseKey, nodeKey } from "./node-record.js"

const alice = idOf("alice")

test("publishes every change of the node's life, each with a higher version", async () => {
  const scene = new Scene()
  const node = await scene.member()
  const first = node.id
  expect(node.registry.life).toMatchObject({ version: 2, phase: "member", joins: 1 })
  await scene.endLease(first)
  await scene.clock.advance(2_500)
  await node.registry.stop()
  expect(node.lives.map(({ version }) => version)).toEqual([2, 3, 4, 5, 6, 7])
  expect(phasesOf(node)).toEqual([
    "member with a lease",
    "fenced: the lease was ended by another node",
    "joining: the node was fenced: the lease was ended by another node",
    "member with a lease",
    "leaving with a lease",
    "stopped: the node was stopped",
  ])
  expect(node.lives.map((life) => life.node.toString() === first)).toEqual([
    true,
    true,
    ...Array(4).fill(false),
  ])
  expect(node.registry.life).toBe(node.lives.at(-1))
})

test("a node that cannot join is stopped at the end", async () => {
  const scene = new Scene()
  const node = await scene.node()
  node.way.commitTrouble = "refuse"
  const joining = expect(node.join()).rejects.toThrow(StoreUnavailableError)
  await scene.clock.advance(10_000)
  await joining
  const [last, beforeLast, ...attempts] = [...phasesOf(node)].reverse()
  expect([beforeLast, last]).toEqual([
    "leaving: the node was asked to leave",
    "stopped: the node was stopped",
  ])
  expect(new Set(attempts)).toEqual(new Set(["joining: the store did not confirm the join"]))
})

test("a node that is asked to leave while its join is in flight gets a lease, and announces that it leaves", async () => {
  const scene = new Scene()
  const [node, other] = [await scene.member(), await scene.member()]
  node.way.commitTrouble = "hang"
  await scene.endLease(node.id)
  expect(node.registry.life.phase).toBe("joining")
  node.registry.leave()
  node.way.commitTrouble = undefined
  await node.way.store.release()
  await settle()
  expect(phasesOf(node).slice(3)).toEqual(["leaving: the node was asked to leave", "leaving with a lease"])
  expect(told(await node.registry.register(alice))).toBe("denied: leaving")
  expect(other.view).toEqual(["7001 leaving", "7002 up"])
  expect(node.told).not.toContain("rejoined")
})

test("the warning that a node is fenced says for how long the event loop was blocked, if it was", async () => {
  const scene = new Scene()
  const node = await scene.member()
  scene.clock.holdUp(12_000)
  await scene.endLease(node.id)
  await scene.clock.advance(1_000)
  await scene.endLease(node.id)
  await scene.clock.advance(5_000)
  const fences = node.log.flatMap((line, at) =>
    line.startsWith("warn this node is fenced") ? [node.fields[at]?.["blockedMs"]] : [],
  )
  // The tick that was due after a third of the ttl was that late.
  expect(fences).toEqual([Math.round(12_000 - TTL_MS / 3), undefined])
})

test("a leaving node that is fenced stays leaving, and does not join again", async () => {
  const scene = new Scene()
  const node = await scene.member()
  node.registry.leave()
  await settle()
  await scene.endLease(node.id)
  await scene.clock.advance(10_000)
  expect(phasesOf(node)).toEqual([
    "member with a lease",
    "leaving with a lease",
    "leaving: the lease was ended by another node",
  ])
  expect(told(await node.registry.register(alice))).toBe("denied: fenced")
  expect(await scene.keys("nodes/")).toEqual([])
  expect(node.told).toEqual([])
})

test("a node that has joined is up in its own view, and in those of the others", async () => {
  const scene = new Scene()
  const a = await scene.member({ roles: ["front"], types: ["Account"] })
  const b = await scene.member()
  for (const { view } of [a, b]) expect(view).toEqual(["7001 up", "7002 up"])
  expect(b.registry.view.member(a.id)).toMatchObject({ roles: ["front"], types: ["Account"] })
  expect(a.registry.mayAct()).toBe(true)
})

test("a join that the store refuses rejects, and leaves nothing running", async () => {
  const scene = new Scene()
  const node = await scene.node()
  node.way.commitTrouble = "refuse"
  const joining = node.join()
  joining.catch(() => {})
  await scene.clock.advance(10_000)
  await expect(joining).rejects.toThrow(StoreUnavailableError)
  await expect(joining).rejects.toThrow("waited for the store for 2000 ms")
  await expect(joining).rejects.toThrow(
    "the last to join): a planned fault: refuse; to wait longer set joinMs",
  )
  expect(scene.clock.pendingTimers).toBe(0)
})

test("a join rejects if the store does not list the nodes", async () => {
  const scene = new Scene()
  const node = await scene.node()
  node.way.trouble = "refuse"
  const joining = expect(node.join()).rejects.toThrow("the last to list nodes/)")
  await scene.clock.advance(JOIN_MS)
  await joining
  expect(scene.clock.pendingTimers).toBe(0)
})

test("a node joins once its store answers, and logs what it waited for", async () => {
  const scene = new Scene()
  const node = await scene.node()
  node.way.trouble = "refuse"
  const joining = node.join()
  await scene.clock.advance(JOIN_MS / 2)
  node.way.trouble = undefined
  await scene.clock.advance(JOIN_MS / 2)
  expect((await joining).life.phase).toBe("member")
  expect(node.log).toEqual([
    "warn the start waits for the store",
    "info the store answered, and the start goes on",
  ])
  expect(node.fields[0]).toMatchObject({ asked: "list nodes/", because: "a planned fault: refuse" })
})

test.each(["refuse", "lose-answer", "hang"] as const)(
  "a start that is aborted while its join meets %s leaves no record and no timer",
  async (fault) => {
    const scene = new Scene()
    const node = await scene.node()
    const starting = new AbortController()
    node.way.commitTrouble = fault
    const joining = expect(node.join(starting.signal)).rejects.toBe("enough")
    await settle()
    starting.abort("enough")
    await settle()
    node.way.commitTrouble = undefined
    await node.way.store.release()
    await joining
    // The record of the lost answer expires with its lease: this node cannot know of it.
    if (fault !== "lose-answer") expect(await scene.keys()).toEqual([])
    expect(phasesOf(node).at(-1)).toBe("stopped: the node was stopped")
    expect(scene.clock.pendingTimers).toBe(0)
  },
)

test("a start that is aborted while it watches whether other nodes are alive ends at once", async () => {
  const scene = new Scene()
  const terms: ClusterTerms = { version: 1, codec: "binary", transport: "tcp", secrets: ["old"] }
  await scene.member({ clusterTerms: terms })
  const node = await scene.node({ clusterTerms: { ...terms, secrets: ["new"] } })
  const starting = new AbortController()
  const joining = expect(node.join(starting.signal)).rejects.toBe("enough")
  await settle()
  starting.abort("enough")
  await joining
  expect(node.log).toEqual([])
})

test("a join whose answer was lost is retried as another incarnation, and the lease of the first expires", async () => {
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

test("a fenced node gives up its lease once its last turn has ended, and not before", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  const before = a.id
  let ended = () => {}
  a.turns = new Promise((resolve) => {
    ended = resolve
  })
  expect(await b.registry.down(a.registry.node)).toBe("downed")
  await scene.clock.advance(200)
  expect(a.told).toEqual(["fenced: this node was declared down", "rejoined"])
  expect(b.registry.view.has(before)).toBe(true)
  ended()
  await settle()
  expect(b.registry.view.has(before)).toBe(false)
  expect(await scene.entry(leaseKey(before))).toBeUndefined()
})

test("other nodes see a node leave, which takes nothing new and finishes what it has begun", async () => {
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

test("a stopped node leaves nothing in the store and nothing running, and its actors can be claimed at once", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  const before = a.id
  const tenure = await a.tenureOf(alice)
  await settle()
  await a.registry.stop()
  expect([tenure.mayAct(), tenure.endedBecause]).toEqual([false, "its node is fenced: the node has left"])
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

test("a node that is stopped while it waits for a renewal ends at once, and leaves its lease to expire", async () => {
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

test("a node that is declared down is fenced, and comes back as another incarnation", async () => {
  const scene = new Scene()
  const [a, b] = [await scene.member(), await scene.member()]
  const before = a.registry.node
  const tenure = await a.tenureOf(alice)
  expect(await b.registry.down(before)).toBe("downed")
  await settle()
  expect(a.told[0]).toBe("fenced: this node was declared down")
  expect(tenure.mayAct()).toBe(false)
  await scene.clock.advance(500)
  expect(a.told).toContain("rejoined")
  expect(b.registry.view.has(before)).toBe(false)
  expect(b.view).toEqual(["7001 up", "7002 up"])
})

test("a node whose record is gone is fenced when a claim is refused", async () => {
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

test("another epoch of the store fences the node, which joins again in that epoch", async () => {
  const scene = new Scene()
  const node = await scene.member()
  const before = node.id
  const tenure = await node.tenureOf(alice)
  node.way.restorable.restore()
  expect(await settledTo(node, "fenced: the epoch of the store has changed")).toBe(true)
  expect(tenure.mayAct()).toBe(false)
  expect(node.registry.cached(alice)).toBeUndefined()
  await scene.clock.advance(OBSERVER_MS + 500)
  expect(node.told.at(-1)).toBe("rejoined")
  expect(node.id).not.toBe(before)
  expect(node.view).toEqual(["7001 up"])
  expect(told(await node.registry.register(alice))).toBe("here")
})

test("a failure of the store is logged once, and is the cause of the fence", async () => {
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
  expect(a.fields[0]).toMatchObject({ asked: "read a lease" })
  expect(a.fields[2]).toEqual({ because: "the lease was ended by another node", error: tenure.endCause })
  expect(tenure.endCause?.message).toBe("a planned fault: refuse")
})

test("logs once whether the death of the node can be proved, and if not why", async () => {
  const scene = new Scene()
  const proved = await scene.member({ lifeline: scene.lines })
  await scene.endLease(proved.id)
  await scene.clock.advance(2_500)
  expect(proved.told).toContain("rejoined")
  expect(proved.log.filter((line) => line.startsWith("info"))).toEqual([
    "info other nodes of this host are notified at once if this process dies",
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
    "warn if this process dies, other nodes know only when its lease has expired",
  ])
  expect(unproved.fields).toEqual([{ because: "the path is too long; set TMPDIR", afterMs: OBSERVER_MS }])
  expect((await scene.member()).log).toEqual([])
})

test("logs for how long the event loop was blocked", async () => {
  const scene = new Scene()
  const node = await scene.member()
  const tenure = await node.tenureOf(alice)
  scene.clock.holdUp(7_000 + TTL_MS / 3)
  expect(await tenure.opened()).toBe(true)
  expect(node.log).toEqual([
    "warn the event loop was blocked, or the process was stopped",
    "warn the lease was not renewed in time; actors wait for the store to renew or refuse it",
    "info the lease was renewed before another node ended it; actors go on",
  ])
  expect(node.fields[0]).toEqual({ blockedMs: 7_000 })
})

/** The published phases: with a lease, or why there is none. */
function phasesOf({ lives }: SceneNode): readonly string[] {
  return lives.map(({ phase, hasLease, because }) =>
    hasLease ? `${phase} with a lease` : `${phase}: ${because}`,
  )
}

async function settledTo(node: SceneNode, what: string): Promise<boolean> {
  await settle()
  return node.told.includes(what)
}

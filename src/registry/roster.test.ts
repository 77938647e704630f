import { describe, expect, test } from "vitest"
import { settle } from "../../test/fake/manual-clock.js"
import { JOIN_MS, OBSERVER_MS, Scene, TTL_MS, type Way } from "../../test/registry/scene.js"
import { NodeId } from "../address/node-id.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import { nodeRandom } from "../runtime/node-random.js"
import { encodeRecord, leaseKey, type NodeRecord, nodeKey } from "./node-record.js"
import { Roster } from "./roster.js"
import { StartWait } from "./start-wait.js"
import { StoreTroubles } from "./store-troubles.js"
import type { OwnLease } from "./watch-lag.js"

const [a, b, c] = ["a", "b", "c"].map((digit) => NodeId.of("10.0.0.1", 7_000, digit.repeat(16))) as [
  NodeId,
  NodeId,
  NodeId,
]
const record: NodeRecord = { status: "active", roles: ["front"], types: ["Account"], lifeline: undefined }

test("shows nodes that were there before, and nodes that join, leave, are declared down and go", async () => {
  const { scene, roster, changes } = await following()
  expect(membersOf(roster)).toEqual(["a up"])
  expect(roster.view.member(a)).toMatchObject({ roles: ["front"], types: ["Account"] })
  await put(scene, b, { ...record, status: "leaving" })
  expect(membersOf(roster)).toEqual(["a up", "b leaving"])
  await put(scene, a, { ...record, status: "down" })
  expect(membersOf(roster)).toEqual(["a down", "b leaving"])
  await scene.commit({ kind: "delete", key: nodeKey(a) })
  expect(membersOf(roster)).toEqual(["b leaving"])
  expect(changes).toEqual(["a active", "b leaving", "a down", "a gone"])
})

test("a join is shown once it is confirmed, unless the watch has already shown it and its end", async () => {
  const { scene, way, roster } = await following()
  const { epoch } = roster
  const { revision } = await way.store.list(nodeKey(a))
  roster.joined(b, record, { epoch, revision: revision + 1 })
  expect(membersOf(roster)).toEqual(["a up", "b up"])
  await put(scene, b)
  await scene.commit({ kind: "delete", key: nodeKey(b) }, { kind: "delete", key: leaseKey(b) })
  roster.joined(b, record, { epoch, revision: revision + 1 })
  expect(membersOf(roster)).toEqual(["a up"])
  roster.joined(b, record, { epoch: "another", revision: revision + 9 })
  expect(membersOf(roster)).toEqual(["a up"])
})

test("a join is shown although the watch has shown a later commit to the record of another node", async () => {
  const { scene, roster } = await following()
  const { epoch } = roster
  await put(scene, c)
  const { revision } = (await scene.entry(nodeKey(c))) ?? { revision: 0 }
  await put(scene, c, { ...record, status: "leaving" })
  // Commits to different keys may become visible in another order than that of their revisions.
  roster.joined(b, record, { epoch, revision })
  expect(membersOf(roster)).toEqual(["a up", "b up", "c leaving"])
})

test("every view has a higher version, and the one before stays as it was", async () => {
  const { scene, roster } = await following()
  const before = roster.view
  await put(scene, b)
  expect(roster.view.version).toBeGreaterThan(before.version)
  expect(before.has(b)).toBe(false)
})

test("a record that cannot be read is ignored, and logged", async () => {
  const { scene, roster, log } = await following()
  await scene.commit({ kind: "put", key: nodeKey(b), value: Buffer.from("{}") })
  await scene.commit({ kind: "put", key: `${nodeKey("nobody")}`, value: encodeRecord(record) })
  expect(membersOf(roster)).toEqual(["a up"])
  expect(log).toEqual(Array(2).fill("warn this version cannot read a node record"))
})

test("ends a lease that was not renewed for the ttl and its margin, and not a moment sooner", async () => {
  const { scene, roster, log } = await following()
  await scene.clock.advance(OBSERVER_MS - 1)
  expect(await scene.keys()).toHaveLength(2)
  await scene.clock.advance(1)
  expect(await scene.keys()).toEqual([])
  expect(membersOf(roster)).toEqual([])
  expect(log).toEqual(["warn a node was taken out of the cluster"])
  roster.stop()
  expect(scene.clock.pendingTimers).toBe(0)
})

test("a renewal starts the time of a lease again, even if the watch missed it", async () => {
  const { scene, way, roster } = await following()
  await scene.clock.advance(OBSERVER_MS - 1)
  await scene.commit({ kind: "put", key: leaseKey(a), value: new Uint8Array(0) })
  await scene.clock.advance(OBSERVER_MS - 1)
  expect(membersOf(roster)).toEqual(["a up"])
  way.restorable.isDeaf = true
  await scene.commit({ kind: "put", key: leaseKey(a), value: new Uint8Array(0) })
  await scene.clock.advance(TTL_MS)
  expect(membersOf(roster)).toEqual(["a up"])
  expect(await scene.keys()).toHaveLength(2)
})

test("a lease without a record is ended as well", async () => {
  const { scene } = await following()
  await scene.commit({ kind: "delete", key: nodeKey(a) })
  await scene.clock.advance(OBSERVER_MS)
  expect(await scene.keys()).toEqual([])
})

test("the end of an expired lease is retried while the store is away", async () => {
  const { scene, way, roster } = await following()
  way.trouble = "refuse"
  await scene.clock.advance(3 * TTL_MS)
  expect(membersOf(roster)).toEqual(["a up"])
  way.trouble = undefined
  await scene.clock.advance(TTL_MS / 10)
  expect(membersOf(roster)).toEqual([])
})

test("a proved death ends the lease at once, and its lifeline is no longer followed", async () => {
  const { scene, roster } = await following({ ...record, lifeline: "line-1" })
  expect(scene.lines.followersOf("line-1")).toBe(1)
  scene.lines.end("line-1")
  await settle()
  expect(membersOf(roster)).toEqual([])
  expect(await scene.keys()).toEqual([])
  expect(scene.lines.followersOf("line-1")).toBe(0)
})

test("a death that is known before the lease ends the lease when it is seen", async () => {
  const { scene, roster } = await following()
  const { mark } = await scene.lines.hold()
  scene.lines.end(mark)
  await scene.commit({ kind: "put", key: nodeKey(b), value: encodeRecord({ ...record, lifeline: mark }) })
  expect(membersOf(roster)).toEqual(["a up", "b up"])
  await scene.commit({ kind: "put", key: leaseKey(b), value: new Uint8Array(0) })
  await scene.clock.advance(0)
  expect(membersOf(roster)).toEqual(["a up"])
})

test("a lifeline is followed once, even if its record changes", async () => {
  const { scene, roster } = await following({ ...record, lifeline: "line-1" })
  await put(scene, a, { ...record, status: "leaving", lifeline: "line-1" })
  expect(scene.lines.followersOf("line-1")).toBe(1)
  roster.stop()
  expect(scene.lines.followersOf("line-1")).toBe(0)
})

test("lists again after a gap, and misses no node that has joined or gone meanwhile", async () => {
  const { scene, way, roster, changes } = await following()
  way.restorable.isDeaf = true
  await put(scene, b)
  await scene.commit({ kind: "delete", key: nodeKey(a) }, { kind: "delete", key: leaseKey(a) })
  expect(membersOf(roster)).toEqual(["a up"])
  way.restorable.isDeaf = false
  way.trouble = "refuse"
  way.restorable.miss()
  await scene.clock.advance(5_000)
  expect(membersOf(roster)).toEqual(["a up"])
  way.trouble = undefined
  await scene.clock.advance(1_000)
  expect(membersOf(roster)).toEqual(["b up"])
  expect(changes).toEqual(["a active", "a gone", "b active"])
  await put(scene, c)
  expect(membersOf(roster)).toEqual(["b up", "c up"])
})

test("a gap alone does not start the time of a lease again", async () => {
  const { scene, way, roster } = await following()
  await scene.clock.advance(OBSERVER_MS - 1)
  way.restorable.miss()
  await settle()
  await scene.clock.advance(1)
  expect(membersOf(roster)).toEqual([])
})

test("another epoch of the store is reported, and the time of all leases starts again", async () => {
  const { scene, way, roster, changes } = await following()
  await scene.clock.advance(OBSERVER_MS - 1)
  way.restorable.restore()
  await settle()
  expect(changes).toContain("another epoch")
  expect(roster.epoch).toBe("epoch-2")
  await scene.clock.advance(OBSERVER_MS - 1)
  expect(membersOf(roster)).toEqual(["a up"])
  await scene.clock.advance(1)
  expect(membersOf(roster)).toEqual([])
})

test("declares a node down only at the known revision of its record", async () => {
  const { scene, way, roster } = await following()
  expect(await roster.down(b)).toBe("changed")
  way.restorable.isDeaf = true
  await put(scene, a, { ...record, status: "leaving" })
  expect(await roster.down(a)).toBe("changed")
  way.restorable.isDeaf = false
  way.restorable.miss()
  await settle()
  way.strike("refuse")
  expect(await roster.down(a)).toBe("unknown")
  expect(await roster.down(a)).toBe("downed")
  await settle()
  expect(membersOf(roster)).toEqual(["a down"])
  expect(roster.view.member(a)?.roles).toEqual(["front"])
})

test("does not begin if the store does not list the nodes", async () => {
  const scene = new Scene()
  const way = await scene.way()
  way.trouble = "refuse"
  const begun = expect(rosterOf(scene, way).begin()).rejects.toThrow(StoreUnavailableError)
  await scene.clock.advance(JOIN_MS)
  await begun
  expect(scene.clock.pendingTimers).toBe(0)
})

test("begins once the store lists the nodes, and watches each prefix once", async () => {
  const scene = new Scene()
  await put(scene, a)
  const way = await scene.way()
  way.trouble = "refuse"
  const { roster, begin, changes } = rosterOf(scene, way)
  const begun = begin()
  await scene.clock.advance(JOIN_MS / 2)
  way.trouble = undefined
  await scene.clock.advance(JOIN_MS / 2)
  await begun
  expect(membersOf(roster)).toEqual(["a up"])
  await scene.endLease(a)
  expect(changes).toEqual(["a active", "a gone"])
})

test("ends no lease while its own has expired, and then gives the others time to renew", async () => {
  const { scene, roster } = await following()
  await scene.clock.advance(OBSERVER_MS - 1)
  roster.pause()
  await scene.clock.advance(10 * TTL_MS)
  expect(membersOf(roster)).toEqual(["a up"])
  roster.resume()
  await scene.clock.advance(TTL_MS / 2 - 1)
  expect(membersOf(roster)).toEqual(["a up"])
  await scene.clock.advance(1)
  expect(membersOf(roster)).toEqual([])
})

test("logs the end of a former incarnation of this process as such, and not as a death", async () => {
  const { scene, log } = await following(record, `${a}`)
  await scene.clock.advance(OBSERVER_MS)
  expect(log).toEqual(["info a former incarnation of this node was taken out of the cluster"])
})

describe("while the watches lag", () => {
  /** A roster of the node `b`, in which `a` is too. Both renew their leases, and the watches hear of nothing. */
  async function lagging() {
    const made = await following()
    const { scene, way, own } = made
    await put(scene, b)
    const renew = async (...nodes: readonly NodeId[]) => {
      await scene.commit(
        ...nodes.map((node) => ({ kind: "put", key: leaseKey(node), value: new Uint8Array(0) }) as const),
      )
      const { revision } = (await scene.entry(leaseKey(b))) ?? { revision: 0 }
      own.confirmed = { node: `${b}`, revision }
    }
    await renew(a, b)
    way.restorable.makeLate()
    /** `b` renews every third of the ttl, and the others that are named. */
    const pass = async (thirds: number, ...others: readonly NodeId[]) => {
      for (let third = 0; third < thirds; third += 1) {
        await scene.clock.advance(TTL_MS / 3)
        await renew(b, ...others)
      }
    }
    await pass(3, a)
    return { ...made, pass }
  }

  test("leases and nodes are listed, and that is logged once", async () => {
    const { scene, way, roster, pass, log } = await lagging()
    expect(log).toEqual([LATE])
    await put(scene, c)
    await pass(1, a)
    expect(membersOf(roster)).toEqual(["a up", "b up", "c up"])
    await pass(20, a, c)
    expect(membersOf(roster)).toEqual(["a up", "b up", "c up"])
    expect(log).toEqual([LATE])
    way.restorable.catchUp()
    await pass(2, a, c)
    expect(log).toEqual([LATE, "info the store reports changes in time again"])
    way.calls.length = 0
    await pass(20, a, c)
    expect(way.calls).toEqual([])
    expect(membersOf(roster)).toEqual(["a up", "b up", "c up"])
  })

  test("a node that renews is not ended, and nobody tries to", async () => {
    const { way, pass } = await lagging()
    way.calls.length = 0
    await pass(30, a)
    expect(way.calls).not.toContain("commit")
  })

  test("a node that has died is ended, a third of the ttl later than otherwise, and shown as gone at once", async () => {
    const { scene, roster, pass, log } = await lagging()
    // `a` has just renewed. The next listing shows it, and the time counts from there.
    await pass(4)
    await scene.clock.advance(TTL_MS / 3 + OBSERVER_MS - (4 / 3) * TTL_MS - 1)
    expect(membersOf(roster)).toEqual(["a up", "b up"])
    await scene.clock.advance(1)
    expect(membersOf(roster)).toEqual(["b up"])
    expect(log.slice(1)).toEqual(["warn a node was taken out of the cluster"])
  })

  test("a node that another one has ended is gone, and nothing that is reported later brings it back", async () => {
    const { scene, way, roster, pass, changes, log } = await lagging()
    await put(scene, c)
    await pass(1, a)
    await put(scene, c, { ...record, status: "leaving" })
    await scene.endLease(c)
    await pass(1, a)
    expect(membersOf(roster)).toEqual(["a up", "b up"])
    const told = [...changes]
    way.restorable.catchUp()
    await settle()
    expect(changes).toEqual(told)
    expect(told).toEqual(["a active", "b active", "c active", "c gone"])
    await pass(6, a)
    expect(log.filter((line) => line.startsWith("warn"))).toEqual([LATE])
  })

  test("a record is not set back by a report that is older than the listing", async () => {
    const { scene, way, roster, pass, changes } = await lagging()
    await put(scene, a, { ...record, status: "leaving" })
    await put(scene, a, { ...record, status: "down" })
    await pass(1, a)
    expect(membersOf(roster)).toEqual(["a down", "b up"])
    way.restorable.catchUp()
    await settle()
    expect(changes).toEqual(["a active", "b active", "a down"])
  })

  test("a listing that fails is tried again", async () => {
    const { scene, way, roster, pass } = await lagging()
    await put(scene, c)
    way.trouble = "refuse"
    await pass(1, a)
    way.trouble = undefined
    expect(membersOf(roster)).toEqual(["a up", "b up"])
    await pass(1, a)
    expect(membersOf(roster)).toEqual(["a up", "b up", "c up"])
  })

  test("a listing from another epoch counts for nothing: the watches hear of it", async () => {
    const { scene, way, roster, pass } = await lagging()
    await put(scene, c)
    const { epoch } = roster
    way.restorable.restoreSilently()
    await pass(1, a)
    expect([roster.epoch, ...membersOf(roster)]).toEqual([epoch, "a up", "b up"])
    way.restorable.miss()
    await settle()
    expect(membersOf(roster)).toEqual(["a up", "b up", "c up"])
  })

  const LATE = "warn the store reports changes late; nodes and leases are listed meanwhile"
})

test("a refused end counts as a sight of what was found, and is not tried again at once", async () => {
  const { scene, way, roster } = await following()
  way.restorable.isDeaf = true
  await scene.clock.advance(TTL_MS)
  await scene.commit({ kind: "put", key: leaseKey(a), value: new Uint8Array(0) })
  way.calls.length = 0
  await scene.clock.advance(OBSERVER_MS - TTL_MS)
  expect(way.calls).toEqual(["commit"])
  await scene.clock.advance(OBSERVER_MS - 1)
  expect(way.calls).toEqual(["commit"])
  expect(membersOf(roster)).toEqual(["a up"])
  await scene.clock.advance(1)
  expect(membersOf(roster)).toEqual([])
})

test("a lease that another node has ended is gone, even if no watch says so", async () => {
  const { scene, way, roster, log } = await following()
  way.restorable.isDeaf = true
  await scene.endLease(a)
  await scene.clock.advance(OBSERVER_MS)
  expect(membersOf(roster)).toEqual([])
  expect(log).toEqual([])
})

/** A roster that has begun, where the node `a` is. */
async function following(of: NodeRecord = record, former?: string) {
  const scene = new Scene()
  if (of.lifeline !== undefined) await scene.lines.hold()
  await put(scene, a, of)
  const way = await scene.way()
  const made = rosterOf(scene, way, former)
  await made.begin()
  await settle()
  return { scene, way, ...made }
}

function rosterOf(scene: Scene, way: Way, former?: string) {
  const own: { confirmed: OwnLease | undefined; epoch?: string } = { confirmed: undefined }
  const changes: string[] = []
  const log: string[] = []
  const logger = {
    enabled: () => true,
    log: (level: string, message: string) => log.push(`${level} ${message}`),
    with: () => logger,
  }
  const roster = new Roster({
    store: way.store,
    clock: scene.clock,
    lifeline: scene.lines,
    logger,
    troubles: new StoreTroubles(logger, scene.clock),
    terms: { ttlMs: TTL_MS, driftMargin: 0.1 },
    renewedAt: () => scene.clock.monotonicMs(),
    confirmed: () => own.confirmed,
    isOwn: (node) => node === former || node === own.confirmed?.node,
    recordChanged: (node, _revision, status) => changes.push(`${nameOf(NodeId.parse(node))} ${status}`),
    viewed: () => {},
    renewing: () => {},
    epochBegun: (epoch) => {
      if (own.epoch !== undefined) changes.push("another epoch")
      own.epoch = epoch
    },
  })
  const wait = new StartWait({ clock: scene.clock, random: nodeRandom, logger }, JOIN_MS)
  return { roster, begin: () => roster.begin(wait), changes, log, own }
}

/** Record and lease, as one that joins writes them. */
async function put(scene: Scene, node: NodeId, of: NodeRecord = record): Promise<void> {
  await scene.commit(
    { kind: "put", key: nodeKey(node), value: encodeRecord(of) },
    { kind: "put", key: leaseKey(node), value: new Uint8Array(0) },
  )
}

function membersOf(roster: Roster): readonly string[] {
  return roster.view.members.map(({ node, status }) => `${nameOf(node)} ${status}`)
}

function nameOf({ incarnation }: NodeId): string {
  return incarnation[0] as string
}

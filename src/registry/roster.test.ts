import { describe, expect, test } from "vitest"
import { settle } from "../../test/fake/manual-clock.js"
import { JOIN_MS, OBSERVER_MS, Scene, TTL_MS, type Way } from "../../test/registry/scene.js"
import { NodeId } from "../address/node-id.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import { changesBetween, MemberLeaving, MemberLeft } from "../membership/member-events.js"
import { Ring } from "../membership/ring.js"
import { nodeRandom } from "../runtime/node-random.js"
import { encodeRecord, leaseKey, type NodeRecord, nodeKey } from "./node-record.js"
import { Roster } from "./roster.js"
import { StartWait } from "./start-wait.js"
import { StoreTroubles } from "./store-troubles.js"

const [a, b, c] = ["a", "b", "c"].map((digit) => NodeId.of("10.0.0.1", 7_000, digit.repeat(16))) as [
  NodeId,
  NodeId,
  NodeId,
]
const self = NodeId.of("10.0.0.9", 7_000, "d".repeat(16))
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

test("a renewal starts the time of a lease again, from when it is read", async () => {
  const { scene, roster } = await following()
  await scene.clock.advance(TTL_MS / 2)
  await renew(scene, a)
  await scene.clock.advance(TTL_MS / 6)
  // Read at two thirds of the ttl, when the next round is due.
  await scene.clock.advance(OBSERVER_MS - 1)
  expect(membersOf(roster)).toEqual(["a up"])
  await scene.clock.advance(1)
  expect(membersOf(roster)).toEqual([])
})

test("a lease is read every third of the ttl, and once more before it is ended", async () => {
  const { scene, way } = await following()
  way.calls.length = 0
  await scene.clock.advance(TTL_MS - 1)
  expect(way.calls).toEqual(["get", "get"])
  await scene.clock.advance(OBSERVER_MS - TTL_MS)
  expect(way.calls.slice(2)).toEqual(["list", "get"])
  await scene.clock.advance(1)
  expect(way.calls.slice(4)).toEqual(["get", "commit"])
})

test("a lease that was renewed at the last moment is not ended, and nobody tries to", async () => {
  const { scene, way, roster } = await following()
  await scene.clock.advance(OBSERVER_MS - 1)
  await renew(scene, a)
  way.calls.length = 0
  await scene.clock.advance(1)
  expect(way.calls).toEqual(["get"])
  expect(membersOf(roster)).toEqual(["a up"])
})

test("reads a lease at once if its node becomes unreachable, and once", async () => {
  const { way, roster } = await following()
  way.calls.length = 0
  const unreachable = new Map([[a.text, [b]]])
  roster.reached(unreachable)
  await settle()
  expect(way.calls).toEqual(["get"])
  roster.reached(unreachable)
  await settle()
  expect(way.calls).toEqual(["get"])
})

describe("with one observer for each lease", () => {
  test("observes the next node that can be reached, and those before it that cannot", async () => {
    const { scene, way, roster } = await following(record, undefined, 1)
    for (const node of [b, c]) await put(scene, node)
    const order = new Ring([self, a, b, c].map(String)).after(`${self}`, 3)
    const readsInRound = async () => {
      await renew(scene, a, b, c)
      way.reads.length = 0
      await scene.clock.advance(TTL_MS / 3)
      return way.reads.filter((key) => key.startsWith("leases/")).map((key) => key.slice("leases/".length))
    }
    expect(await readsInRound()).toEqual([order[0]])
    roster.reached(new Map([[order[0] as string, []]]))
    expect((await readsInRound()).sort()).toEqual(order.slice(0, 2).sort())
    roster.reached(new Map())
    expect(await readsInRound()).toEqual([order[0]])
  })

  test("observes a node that it waits for, as long as it does", async () => {
    const { scene, way, roster } = await following(record, undefined, 1)
    for (const node of [b, c]) await put(scene, node)
    const last = new Ring([self, a, b, c].map(String)).after(`${self}`, 3).at(-1) as string
    const isRead = async () => {
      await renew(scene, a, b, c)
      way.reads.length = 0
      await scene.clock.advance(TTL_MS / 3)
      return way.reads.includes(leaseKey(last))
    }
    expect(await isRead()).toBe(false)
    roster.observe(NodeId.parse(last))
    expect(way.reads.at(-1)).toBe(leaseKey(last))
    for (let third = 0; third < 5; third += 1) expect(await isRead()).toBe(true)
    await scene.clock.advance(TTL_MS / 3)
    expect(await isRead()).toBe(false)
  })

  test("waiting for a node that is not known reads its record", async () => {
    const { scene, way, roster } = await following(record, undefined, 1)
    way.restorable.isDeaf = true
    await put(scene, b)
    roster.observe(b)
    await settle()
    expect(membersOf(roster)).toEqual(["a up", "b up"])
    expect(way.reads).toContain(leaseKey(b))
  })
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

test("a death that is known before the lease was read ends the lease when it is", async () => {
  const { scene, roster } = await following()
  const { mark } = await scene.lines.hold()
  scene.lines.end(mark)
  await put(scene, b, { ...record, lifeline: mark })
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

test("begins once the store lists the nodes, and watches them once", async () => {
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

describe("while the watch lags", () => {
  /** A roster in which `a` and `b` are. Both renew their leases, and the watch hears of nothing. */
  async function lagging() {
    const made = await following()
    const { scene, way } = made
    await put(scene, b)
    way.restorable.makeLate()
    /** Those that are named renew every third of the ttl. */
    const pass = async (thirds: number, ...nodes: readonly NodeId[]) => {
      for (let third = 0; third < thirds; third += 1) {
        await scene.clock.advance(TTL_MS / 3)
        await renew(scene, ...nodes)
      }
    }
    await pass(3, a, b)
    return { ...made, pass }
  }

  test("a new node is seen within a ttl, as all records are listed", async () => {
    const { scene, roster, pass } = await lagging()
    await put(scene, c)
    await pass(3, a, b, c)
    expect(membersOf(roster)).toEqual(["a up", "b up", "c up"])
  })

  test("a node that others tell of is seen at once, and one that is gone is not", async () => {
    const { scene, roster, pass } = await lagging()
    await put(scene, c)
    await roster.hint(`${c}`)
    expect(membersOf(roster)).toEqual(["a up", "b up", "c up"])
    await scene.endLease(c)
    await roster.hint(`${c}`)
    expect(membersOf(roster)).toEqual(["a up", "b up"])
    await pass(3, a, b)
    expect(membersOf(roster)).toEqual(["a up", "b up"])
  })

  test("a node that renews is not ended, and nobody tries to", async () => {
    const { way, pass } = await lagging()
    way.calls.length = 0
    await pass(30, a, b)
    expect(way.calls).not.toContain("commit")
  })

  test("a node that has died is ended, at most a third of the ttl after it seems to have expired", async () => {
    const { scene, roster, pass, log } = await lagging()
    // `a` has just renewed. The next round shows it, and the time counts from there.
    await pass(4, b)
    await scene.clock.advance(TTL_MS / 3 + OBSERVER_MS - (4 / 3) * TTL_MS - 1)
    expect(membersOf(roster)).toEqual(["a up", "b up"])
    await scene.clock.advance(1)
    expect(membersOf(roster)).toEqual(["b up"])
    expect(log).toEqual(["warn a node was taken out of the cluster"])
  })

  test("a node that another one has ended is gone, and nothing that is reported later brings it back", async () => {
    const { scene, way, roster, pass, changes, log } = await lagging()
    await put(scene, c)
    await pass(3, a, b, c)
    await put(scene, c, { ...record, status: "leaving" })
    await scene.endLease(c)
    await pass(1, a, b)
    expect(membersOf(roster)).toEqual(["a up", "b up"])
    const told = [...changes]
    way.restorable.catchUp()
    await settle()
    expect(changes).toEqual(told)
    expect(told).toEqual(["a active", "b active", "c active", "c gone"])
    await pass(6, a, b)
    expect(log).toEqual([])
  })

  test("a record is not set back by a report that is older than the listing", async () => {
    const { scene, way, roster, pass, changes } = await lagging()
    await put(scene, a, { ...record, status: "leaving" })
    await put(scene, a, { ...record, status: "down" })
    await pass(3, a, b)
    expect(membersOf(roster)).toEqual(["a down", "b up"])
    way.restorable.catchUp()
    await settle()
    expect(changes).toEqual(["a active", "b active", "a down"])
  })

  test("a listing that fails is tried again with the next round", async () => {
    const { scene, way, roster, pass } = await lagging()
    await pass(2, a, b)
    await put(scene, c)
    way.trouble = "refuse"
    await pass(1, a, b)
    way.trouble = undefined
    expect(membersOf(roster)).toEqual(["a up", "b up"])
    await pass(1, a, b)
    expect(membersOf(roster)).toEqual(["a up", "b up", "c up"])
  })

  test("a listing from another epoch counts for nothing: the watch hears of it", async () => {
    const { scene, way, roster, pass } = await lagging()
    await put(scene, c)
    const { epoch } = roster
    way.restorable.restoreSilently()
    await pass(3, a, b)
    expect([roster.epoch, ...membersOf(roster)]).toEqual([epoch, "a up", "b up"])
    way.restorable.miss()
    await settle()
    expect(membersOf(roster)).toEqual(["a up", "b up", "c up"])
  })
})

test("a node that has said that it stops is leaving at once, and nothing older sets that back", async () => {
  const { scene, way, roster, changes } = await following()
  way.restorable.isDeaf = true
  const before = roster.view
  roster.left(a)
  expect(membersOf(roster)).toEqual(["a leaving"])
  expect(changesBetween(before, roster.view, 0)[0]).toBeInstanceOf(MemberLeaving)
  roster.left(b)
  await roster.hint(`${a}`)
  expect(membersOf(roster)).toEqual(["a leaving"])
  const leaving = roster.view
  await scene.endLease(a)
  roster.observe(a)
  await settle()
  expect(membersOf(roster)).toEqual([])
  expect(changesBetween(leaving, roster.view, 0)[0]).toBeInstanceOf(MemberLeft)
  expect(changes).toEqual(["a active", "a gone"])
})

test("a node that was leaving does not come up in a store that has lost that", async () => {
  const { scene, roster } = await following()
  await put(scene, a, { ...record, status: "leaving" })
  expect(membersOf(roster)).toEqual(["a leaving"])
  await put(scene, a, record)
  expect(membersOf(roster)).toEqual(["a leaving"])
})

test("a node that is down stays so when it says that it stops", async () => {
  const { scene, roster } = await following()
  await put(scene, a, { ...record, status: "down" })
  roster.left(a)
  expect(membersOf(roster)).toEqual(["a down"])
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
async function following(of: NodeRecord = record, former?: string, observers = 5) {
  const scene = new Scene()
  if (of.lifeline !== undefined) await scene.lines.hold()
  await put(scene, a, of)
  const way = await scene.way()
  const made = rosterOf(scene, way, former, observers)
  await made.begin()
  await settle()
  return { scene, way, ...made }
}

function rosterOf(scene: Scene, way: Way, former?: string, observers = 5) {
  let known: string | undefined
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
    isOwn: (node) => node === former,
    observers,
    self: () => self,
    recordChanged: (node, _revision, status) => changes.push(`${nameOf(NodeId.parse(node))} ${status}`),
    viewed: () => {},
    renewing: () => {},
    epochBegun: (epoch) => {
      if (known !== undefined) changes.push("another epoch")
      known = epoch
    },
  })
  const wait = new StartWait({ clock: scene.clock, random: nodeRandom, logger }, JOIN_MS)
  return { roster, begin: () => roster.begin(wait), changes, log }
}

/** Record and lease, as one that joins writes them. */
async function put(scene: Scene, node: NodeId, of: NodeRecord = record): Promise<void> {
  await scene.commit(
    { kind: "put", key: nodeKey(node), value: encodeRecord(of) },
    { kind: "put", key: leaseKey(node), value: new Uint8Array(0) },
  )
}

async function renew(scene: Scene, ...nodes: readonly NodeId[]): Promise<void> {
  await scene.commit(
    ...nodes.map((node) => ({ kind: "put", key: leaseKey(node), value: new Uint8Array(0) }) as const),
  )
}

function membersOf(roster: Roster): readonly string[] {
  return roster.view.members.map(({ node, status }) => `${nameOf(node)} ${status}`)
}

function nameOf({ incarnation }: NodeId): string {
  return incarnation[0] as string
}

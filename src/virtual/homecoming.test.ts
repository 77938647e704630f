import { beforeEach, expect, test } from "vitest"
import { ManualClock } from "../../test/fake/manual-clock.js"
import { ActorId } from "../address/actor-id.js"
import { NodeId } from "../address/node-id.js"
import { ClusterView } from "../membership/cluster-view.js"
import type { Member, MemberStatus } from "../membership/member.js"
import { rendezvous } from "../placement/rendezvous.js"
import { preferLocal } from "../placement/strategies.js"
import type { Scheduler } from "../ports/scheduler.js"
import type { Registry } from "../registry/registry.js"
import type { Activation } from "./activation.js"
import type { Catalog } from "./catalog.js"
import { Homecoming } from "./homecoming.js"

const [SELF, OLD, NEW] = ["a", "b", "c"].map((name) => NodeId.of(`${name}.test`, 1, name.repeat(16))) as [
  NodeId,
  NodeId,
  NodeId,
]

function member(node: NodeId, status: MemberStatus = "up"): Member {
  return { node, status, types: ["Session", "Local"], roles: [] } as unknown as Member
}

type About = Partial<Omit<Activation, "type">> & { readonly type?: string }

/** A node with idle actors, and other nodes, as the test says. */
class Setup {
  readonly clock = new ManualClock()
  readonly met = new Set<string>([NEW.text])
  readonly ended: { readonly id: ActorId; readonly reason: string }[] = []
  readonly ends: (() => void)[] = []
  activations: Activation[] = []
  /** The versions of the states of all types, by node; 0 if they are not set. */
  readonly versions = new Map<string, number>()
  readonly published = { versionOn: (node: string) => this.versions.get(node) }
  view = ClusterView.empty.next([member(SELF), member(OLD)])
  turns = 0
  readonly homecoming = new Homecoming({
    registry: Object.defineProperty(
      { node: SELF, published: this.published } as unknown as Registry,
      "view",
      {
        get: () => this.view,
      },
    ),
    catalog: Object.defineProperties({} as Pick<Catalog, "all" | "size">, {
      all: { get: () => this.activations[Symbol.iterator]() },
      size: { get: () => this.activations.length },
    }),
    clock: this.clock,
    scheduler: {
      yield: (task: () => void) => {
        this.turns += 1
        setImmediate(task)
      },
    } as unknown as Scheduler,
    strategyOf: (type) => (type === "Session" ? rendezvous : preferLocal),
    hasMet: (node) => this.met.has(node.text),
  })

  /** Shows the node these members. */
  show(members: readonly Member[], unreachable: readonly NodeId[] = []): void {
    const before = this.view
    this.view = before.next(members, new Map(unreachable.map((node) => [node.text, [SELF]])))
    this.homecoming.viewed(this.view, before)
  }

  join(status: MemberStatus = "up"): void {
    this.show([member(SELF), member(OLD), member(NEW, status)])
  }

  /** Adds idle actors, and returns how many of them have their home on the new node. */
  add(count: number, { type = "Session", ...about }: About = {}): number {
    const ids = Array.from({ length: count }, (_, at) => ActorId.of("test", type, `key-${at}`))
    for (const id of ids) {
      this.activations.push({
        id,
        state: "valid",
        isBusy: false,
        waiting: 0,
        hasOwnTasks: false,
        deactivate: (reason: string) => {
          this.ended.push({ id, reason })
          return new Promise<void>((resolve) => this.ends.push(resolve))
        },
        ...about,
      } as unknown as Activation)
    }
    const all = [member(SELF), member(OLD), member(NEW)]
    return ids.filter((id) => rendezvous(id, all).equals(NEW)).length
  }
}

let setup: Setup

beforeEach(() => {
  setup = new Setup()
})

test("idle actors whose home has joined end after a second without a change of members", async () => {
  const away = setup.add(60)
  expect(away).toBeGreaterThan(5)
  setup.join()
  await setup.clock.advance(999)
  expect(setup.ended).toEqual([])
  await setup.clock.advance(1)
  expect(setup.ended).toHaveLength(away)
  expect(new Set(setup.ended.map(({ reason }) => reason))).toEqual(new Set(["moved"]))
  for (const { id } of setup.ended) expect(setup.homecoming.homeOf(id)).toEqual(NEW)
})

test("a change of members begins the second again, and one sweep is made per join", async () => {
  const away = setup.add(60)
  setup.join()
  await setup.clock.advance(900)
  setup.show([member(SELF), member(NEW)])
  await setup.clock.advance(900)
  expect(setup.ended).toEqual([])
  await setup.clock.advance(100)
  const { length } = setup.ended
  expect(length).toBeGreaterThan(away)
  await setup.clock.advance(10_000)
  setup.show([member(SELF), member(NEW)])
  await setup.clock.advance(10_000)
  expect(setup.ended).toHaveLength(length)
  expect(setup.clock.pendingTimers).toBe(0)
})

test.each<[string, About]>([
  ["that run a turn", { isBusy: true }],
  ["with messages", { waiting: 1 }],
  ["with timers or watches", { hasOwnTasks: true }],
  ["that start or end", { state: "activating" }],
  ["of types with another strategy", { type: "Local" }],
])("actors %s stay", async (_name, about) => {
  setup.add(60, about)
  setup.join()
  await setup.clock.advance(5_000)
  expect(setup.ended).toEqual([])
})

test("actors wait for a node that is not up, that cannot be reached, or that has not met this one", async () => {
  const away = setup.add(60)
  setup.join("joining")
  await setup.clock.advance(5_000)
  setup.show([member(SELF), member(OLD), member(NEW)], [NEW])
  await setup.clock.advance(5_000)
  setup.met.clear()
  setup.join()
  await setup.clock.advance(5_000)
  expect(setup.ended).toEqual([])
  setup.met.add(NEW.text)
  await setup.clock.advance(1_000)
  expect(setup.ended).toHaveLength(away)
})

test("actors do not go to a node that knows only earlier versions of their states", async () => {
  setup.add(60)
  setup.versions.set(SELF.text, 2).set(NEW.text, 1)
  setup.join()
  await setup.clock.advance(5_000)
  expect(setup.ended).toEqual([])
})

test("a node that is gone again is expected no more", async () => {
  setup.add(60)
  setup.met.clear()
  setup.join()
  await setup.clock.advance(5_000)
  setup.show([member(SELF), member(OLD)])
  expect(setup.clock.pendingTimers).toBe(0)
  setup.met.add(NEW.text)
  await setup.clock.advance(5_000)
  expect(setup.ended).toEqual([])
})

test("the members that were there before this node, and this node itself, are no arrivals", async () => {
  setup.add(60)
  setup.met.add(OLD.text).add(SELF.text)
  setup.homecoming.viewed(setup.view, ClusterView.empty)
  setup.view = ClusterView.empty.next([member(OLD)])
  setup.show([member(SELF), member(OLD)])
  await setup.clock.advance(5_000)
  expect(setup.ended).toEqual([])
  expect(setup.activations.map(({ id }) => setup.homecoming.homeOf(id))).toEqual(Array(60).fill(undefined))
})

test("at most 64 actors end at a time, and 1,000 are examined in a turn of the event loop", async () => {
  const away = setup.add(10_000)
  setup.join()
  await setup.clock.advance(1_000)
  expect(setup.ended).toHaveLength(64)
  for (let done = 0; done < away; done += 64) {
    for (const end of setup.ends.splice(0)) end()
    await setup.clock.advance(0)
  }
  expect(setup.ended).toHaveLength(away)
  expect(setup.turns).toBeGreaterThanOrEqual(10)
})

test("after a stop nothing ends, and no actor has another home", async () => {
  setup.add(10_000)
  setup.join()
  await setup.clock.advance(1_000)
  setup.homecoming.stop()
  for (const end of setup.ends.splice(0)) end()
  await setup.clock.advance(5_000)
  expect(setup.ended).toHaveLength(64)
  expect(setup.homecoming.homeOf((setup.ended[0] as { id: ActorId }).id)).toBeUndefined()
})

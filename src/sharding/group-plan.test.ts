import { beforeEach, expect, test } from "vitest"
import { NodeId } from "../address/node-id.js"
import { ClusterView } from "../membership/cluster-view.js"
import type { Member, MemberStatus } from "../membership/member.js"
import type { NodeLife } from "../registry/node-life.js"
import { GroupPlan } from "./group-plan.js"
import { ShardMap } from "./shard-map.js"

const [A, B, C] = ["a", "b", "c"].map((name) => NodeId.of(`${name}.test`, 1, name.repeat(16))) as [
  NodeId,
  NodeId,
  NodeId,
]

let map: ShardMap
let registry: {
  view: ClusterView
  life: NodeLife
  published: { versionOn(node: string, type: string): number | undefined }
}
/** The versions of the states of carts, by node. */
let versions: Map<string, number>
let plan: GroupPlan

beforeEach(() => {
  map = new ShardMap(4)
  map.beginEpoch("e1")
  registry = {
    view: ClusterView.empty.next([member(A), member(B)]),
    life: { phase: "member", node: A } as NodeLife,
    published: { versionOn: (node, type) => (type === "Cart" ? versions.get(node) : 0) },
  }
  versions = new Map()
  plan = new GroupPlan(map, ["User", "Cart"], { registry, logger: { log: () => {} } })
})

function member(node: NodeId, status: MemberStatus = "up", types = ["User", "Cart"]): Member {
  return { node, status, types, roles: [] } as unknown as Member
}

/** How many shards each node should have. */
function counts(): Record<string, number> {
  const shares: Record<string, number> = {}
  for (const node of plan.nodes) {
    const host = node?.split(".")[0] ?? "nobody"
    shares[host] = (shares[host] ?? 0) + 1
  }
  return shares
}

test("gives an even share to each member that is up", () => {
  expect(counts()).toEqual({ a: 2, b: 2 })
  registry.view = registry.view.next([member(A), member(B, "leaving"), member(C, "joining")])
  expect(counts()).toEqual({ a: 4 })
})

test("gives nothing to a member that hosts only some of the types", () => {
  registry.view = registry.view.next([member(A), member(B, "up", ["User"])])
  expect(counts()).toEqual({ a: 4 })
})

test("gives nothing to a member that cannot be reached, unless none can", () => {
  registry.view = registry.view.next([member(A), member(B)], new Map([[B.text, [A]]]))
  expect(counts()).toEqual({ a: 4 })
  registry.view = registry.view.next(
    [member(B), member(C)],
    new Map([
      [B.text, [A]],
      [C.text, [A]],
    ]),
  )
  expect(counts()).toEqual({ b: 2, c: 2 })
})

test("gives nothing to this node once it leaves, whatever the view shows", () => {
  expect(counts()).toEqual({ a: 2, b: 2 })
  registry.life = { phase: "leaving", node: A } as NodeLife
  expect(counts()).toEqual({ b: 4 })
})

test("is made again when the map or the members have changed, and only then", () => {
  const first = plan.nodes
  expect(plan.nodes).toBe(first)
  map.learn("e1", 0, { kind: "placed", node: B, generation: 5 })
  const second = plan.nodes
  expect(second).not.toBe(first)
  expect(second[0]).toBe(B.text)
  map.learn("e1", 0, { kind: "placed", node: A, generation: 4 })
  expect(plan.nodes).toBe(second)
  registry.view = registry.view.next([member(A)])
  expect(counts()).toEqual({ a: 4 })
  map.beginEpoch("e2")
  expect(plan.liveHome(0)).toBeUndefined()
})

test("a home that is no member counts as none", () => {
  map.learn("e1", 0, { kind: "placed", node: C, generation: 5 })
  map.learn("e1", 1, { kind: "placed", node: B, generation: 6 })
  expect([plan.liveHome(0), plan.liveHome(1), plan.liveHome(2)]).toEqual([undefined, B, undefined])
})

test("nodes that know only earlier versions of a type keep what they have, and get nothing more", () => {
  versions.set(B.text, 2)
  expect(counts()).toEqual({ b: 4 })
  map.learn("e1", 0, { kind: "placed", node: A, generation: 7 })
  expect(counts()).toEqual({ a: 1, b: 3 })
  for (const shard of [1, 2]) map.learn("e1", shard, { kind: "placed", node: A, generation: 7 + shard })
  expect(counts()).toEqual({ a: 2, b: 2 })
  registry.view = registry.view.next([member(A)])
  expect(counts()).toEqual({ a: 4 })
})

test("a shard with a state of a later version than its home knows goes to a node that knows it", () => {
  for (const shard of [0, 1, 2, 3]) {
    map.learn("e1", shard, { kind: "placed", node: shard < 2 ? A : B, generation: 7 + shard })
  }
  versions.set(A.text, 1).set(B.text, 2)
  expect(plan.nodes).toEqual([A.text, A.text, B.text, B.text])
  plan.handOver(1, { type: "Cart", stateVersion: 3 })
  expect(plan.nodes).toEqual([A.text, A.text, B.text, B.text])
  plan.handOver(1, { type: "Cart", stateVersion: 2 })
  expect(plan.nodes).toEqual([A.text, B.text, B.text, B.text])
  map.learn("e1", 1, { kind: "placed", node: B, generation: 20 })
  expect(counts()).toEqual({ a: 1, b: 3 })
})

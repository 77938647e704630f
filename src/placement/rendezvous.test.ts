import { expect, test } from "vitest"
import { ActorId } from "../address/actor-id.js"
import { NodeId } from "../address/node-id.js"
import type { Candidate } from "./placement-protocol.js"
import { rendezvous } from "./rendezvous.js"

// Pins the choice across versions: nodes with a version that chooses differently would place actors
// elsewhere than the older nodes of the same cluster.
test.each([
  ["prod::BankAccount/alice", "node-3"],
  ["prod::BankAccount/bob", "node-0"],
  ["prod::BankAccount/carol", "node-1"],
  ["prod::Room/room%2F42", "node-3"],
  ["prod::User/1", "node-4"],
  ["prod::User/2", "node-2"],
  ["prod::User/3", "node-2"],
])("keeps placing %s on %s", (id, host) => {
  expect(rendezvous(ActorId.parse(id), members(5)).host).toBe(host)
})

test.each([3, 10, 100])("spreads actors over %i nodes as evenly as a random choice", (count) => {
  const each = 500
  const candidates = members(count)
  const found = countBy(ids(each * count).map((id) => rendezvous(id, candidates).host))
  expect(found.size).toBe(count)
  // Chi squared, within five standard deviations.
  const chi = [...found.values()].reduce((sum, had) => sum + (had - each) ** 2 / each, 0)
  expect(chi).toBeLessThan(count - 1 + 5 * Math.sqrt(2 * (count - 1)))
})

test("when a node leaves, only its actors move, and each other node gets a share", () => {
  const before = members(10)
  const after = before.filter(({ node }) => node.host !== "node-3")
  const moved = ids(20_000).flatMap((id) => {
    const [was, is] = [rendezvous(id, before), rendezvous(id, after)]
    if (was.host !== "node-3") expect(is).toBe(was)
    return was.host === "node-3" ? [is.host] : []
  })
  expect(moved.length).toBeGreaterThan(1_700)
  const shares = countBy(moved)
  expect(shares.size).toBe(9)
  for (const share of shares.values()) expect(share / moved.length).toBeCloseTo(1 / 9, 1)
})

test("when a node joins, actors move only to it, and none between the other nodes", () => {
  const [before, after] = [members(9), members(10)]
  for (const id of ids(5_000)) {
    const is = rendezvous(id, after)
    if (is.host !== "node-9") expect(rendezvous(id, before).host).toBe(is.host)
  }
})

test("ignores the order of the candidates", () => {
  const candidates = members(7)
  const reversed = [...candidates].reverse()
  for (const id of ids(1_000)) expect(rendezvous(id, reversed)).toBe(rendezvous(id, candidates))
})

test("treats a restarted node as a different node", () => {
  const one = [...members(4), { node: NodeId.of("node-4", 1, "0".repeat(15).concat("1")) }]
  const two = [...members(4), { node: NodeId.of("node-4", 1, "0".repeat(15).concat("2")) }]
  const isOnFourth = (id: ActorId, candidates: readonly Candidate[]) =>
    rendezvous(id, candidates).host === "node-4"
  const stayed = ids(5_000).filter((id) => isOnFourth(id, one) && isOnFourth(id, two))
  // By chance: of six random scores, the two of node-4 are the highest in one case of fifteen.
  expect(stayed.length).toBeGreaterThan(245)
  expect(stayed.length).toBeLessThan(420)
})

test("throws a RangeError if there are no candidates", () => {
  expect(() => rendezvous(ActorId.of("ns", "T", "x"), [])).toThrow(RangeError)
})

function members(count: number): readonly Candidate[] {
  return Array.from({ length: count }, (_, at) => ({ node: NodeId.of(`node-${at}`, 1, "0".repeat(16)) }))
}

function ids(count: number): readonly ActorId[] {
  return Array.from({ length: count }, (_, at) => ActorId.of("ns", "User", `user-${at}`))
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

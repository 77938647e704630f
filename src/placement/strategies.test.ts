import { expect, test } from "vitest"
import { ActorId } from "../address/actor-id.js"
import { NodeId } from "../address/node-id.js"
import { SeededRandom } from "../sim/seeded-random.js"
import { Authorities } from "./authorities.js"
import type { Candidate } from "./placement-protocol.js"
import { rendezvous } from "./rendezvous.js"
import {
  leastLoadedOfTwo,
  type PlacementContext,
  type PlacementStrategy,
  preferLocal,
  random,
} from "./strategies.js"

test("preferLocal chooses this node if it hosts the type, and otherwise the choice of rendezvous", () => {
  const all = members(5)
  for (const id of ids(50)) {
    expect(preferLocal(id, all, contextOf("node-2")).host).toBe("node-2")
    expect(preferLocal(id, all, contextOf("elsewhere"))).toBe(rendezvous(id, all))
  }
})

test("random chooses each candidate equally often, and a candidate at both ends of the range", () => {
  const counts = spread(random, members(4), 4_000)
  expect(counts.size).toBe(4)
  // Within five standard deviations.
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(5 * Math.sqrt(750))
  for (const drawn of [0, 2 ** 32 - 1]) {
    const context = { ...contextOf("node-0"), random: { uint32: () => drawn } }
    const host = random(ids(1)[0] as ActorId, members(3), context).host
    expect(host).toBe(drawn === 0 ? "node-0" : "node-2")
  }
})

test("leastLoadedOfTwo never chooses the most loaded, and the second only if drawn together with it", () => {
  const all = members(3, [10, 9_000, 4_000])
  const counts = spread(leastLoadedOfTwo, all, 3_000)
  expect(counts.get("node-1")).toBeUndefined()
  // One in three, within five standard deviations.
  expect(Math.abs((counts.get("node-2") ?? 0) - 1_000)).toBeLessThan(5 * Math.sqrt(667))
})

test("leastLoadedOfTwo draws two different candidates even if the random numbers are equal", () => {
  for (const drawn of [0, 2 ** 31, 2 ** 32 - 1]) {
    const asked: string[] = []
    const context: PlacementContext = {
      ...contextOf("node-0"),
      random: { uint32: () => drawn },
      load: ({ node }) => asked.push(node.host),
    }
    leastLoadedOfTwo(ids(1)[0] as ActorId, members(2), context)
    expect(new Set(asked)).toEqual(new Set(["node-0", "node-1"]))
  }
  expect(leastLoadedOfTwo(ids(1)[0] as ActorId, members(1), contextOf("node-0")).host).toBe("node-0")
})

test("three nodes place 300 actors within 20% of even by loads that are never refreshed", () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const counts = new Map<string, number>()
    for (let decider = 0; decider < 3; decider += 1) {
      const had = spread(leastLoadedOfTwo, members(3), 100, new SeededRandom(3 * seed + decider))
      for (const [host, count] of had) counts.set(host, (counts.get(host) ?? 0) + count)
    }
    for (const count of counts.values()) expect(Math.abs(count - 100)).toBeLessThanOrEqual(20)
  }
})

/** Returns how many actors each node got; each placed actor counts at once. */
function spread(
  strategy: PlacementStrategy,
  candidates: readonly Candidate[],
  count: number,
  chance = new SeededRandom(7),
): Map<string, number> {
  const self = nodeNamed("node-0")
  const authorities = new Authorities({ self, random: chance, strategyOf: () => strategy, limit: count })
  const counts = new Map<string, number>()
  for (const id of ids(count)) {
    const choice = authorities.choose(id, candidates, { options: {}, since: 1 })
    if (choice.kind === "none") throw new Error(choice.refusal.because)
    authorities.sendTo(id, choice.candidate, 1)
    const { host } = choice.candidate.node
    counts.set(host, (counts.get(host) ?? 0) + 1)
  }
  return counts
}

function contextOf(self: string): PlacementContext {
  return {
    self: nodeNamed(self),
    random: new SeededRandom(1),
    load: ({ load }) => load ?? 0,
  }
}

function members(count: number, loads: readonly number[] = []): readonly Candidate[] {
  return Array.from({ length: count }, (_, at) => {
    const load = loads[at]
    return { node: nodeNamed(`node-${at}`), ...(load === undefined ? {} : { load }) }
  })
}

function ids(count: number): readonly ActorId[] {
  return Array.from({ length: count }, (_, at) => ActorId.of("ns", "User", `user-${at}`))
}

function nodeNamed(host: string): NodeId {
  return NodeId.of(host, 1, "0".repeat(16))
}

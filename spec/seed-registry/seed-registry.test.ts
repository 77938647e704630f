import { expect, test } from "vitest"
import { explore, told } from "../explorer/explore.js"
import { graphOf, leadsTo } from "../explorer/leads-to.js"
import { ACTORS, isAlive, NODES, type SeedState, seedRegistry } from "./seed-registry.js"

const graph = graphOf(seedRegistry())

test("has as many states and steps as it is said to have, and its invariants hold in all of them", () => {
  const { distinct, generated, evaluated, violation } = explore(seedRegistry())
  expect(violation).toBeUndefined()
  expect({ distinct, generated }).toEqual({ distinct: 6_174, generated: 22_845 })
  expect(evaluated).toEqual({ TypeOK: 6_174, SingleActivation: 6_174, PlacementConsistency: 6_174 })
})

test("a dead node is found to have failed", () => {
  for (const node of NODES) {
    const property = {
      premise: (state: SeedState) => !isAlive(state, node),
      goal: (state: SeedState) => state.status[node] === "failed",
    }
    const { premises, counterexample } = leadsTo(graph, {
      ...property,
      fair: ["HeartbeatTick", "DetectFailure"],
    })
    expect(premises).toBeGreaterThan(0)
    expect(counterexample).toBeUndefined()
    expect(leadsTo(graph, { ...property, fair: ["HeartbeatTick"] }).counterexample).toBeDefined()
  }
})

test("a live node's stale entry is corrected", () => {
  for (const node of NODES) {
    for (const actor of ACTORS) {
      const property = {
        premise: (state: SeedState) =>
          isAlive(state, node) && state.cache[node]?.[actor] !== state.placement[actor],
        goal: (state: SeedState) =>
          !isAlive(state, node) || state.cache[node]?.[actor] === state.placement[actor],
      }
      const fair = [`InvalidateCache(${node}, ${actor})`]
      const { premises, counterexample } = leadsTo(graph, { ...property, fair })
      expect(premises).toBeGreaterThan(0)
      expect(counterexample).toBeUndefined()
      expect(leadsTo(graph, { ...property, fair: [] }).counterexample).toBeDefined()
    }
  }
})

test("letting suspect nodes claim breaks nothing here: they are dead", () => {
  const { distinct, violation } = explore(seedRegistry({ suspectsClaim: true }))
  expect(violation).toBeUndefined()
  expect(distinct).toBe(6_174)
})

test("placements that a failed node keeps are found, by the shortest way", () => {
  const { violation } = explore(seedRegistry({ failedKeepPlacements: true }))
  if (violation === undefined) throw new Error("it was not found")
  expect(violation.invariant).toBe("PlacementConsistency")
  expect(violation.trace.map(({ label }) => label)).toEqual([
    "initially",
    "ClaimActor(0, 0)",
    "NodeCrash(0)",
    "HeartbeatTick(0)",
    "HeartbeatTick(0)",
    "DetectFailure(0)",
    "DetectFailure(0)",
  ])
  expect(told(violation)).toContain("6. DetectFailure(0)")
})

import { expect, test } from "vitest"
import { explore } from "../explorer/explore.js"
import { seedRegistry } from "./seed-registry.js"

test("has the states and steps that TLC counts, and its invariants hold in all of them", () => {
  const { distinct, generated, evaluated, violation } = explore(seedRegistry())
  expect(violation).toBeUndefined()
  expect({ distinct, generated }).toEqual({ distinct: 6_174, generated: 22_845 })
  expect(evaluated).toEqual({ SingleActivation: 6_174, PlacementConsistency: 6_174 })
})

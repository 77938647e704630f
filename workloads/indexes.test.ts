import { expect, test } from "vitest"
import { noFaults, runSeed, simulate } from "../src/sim/index.js"
import { indexes } from "./indexes.js"
import { shares } from "./shares.js"

// So few seeds need not reach every place; a run by hand has to.
test(`${shares.index} seeds of profiles hold their invariants`, async () => {
  const { failures, problems } = await simulate(indexes, { seeds: shares.index })
  expect(failures).toEqual([])
  expect(problems.filter((problem) => !problem.startsWith("never reached"))).toEqual([])
}, 120_000)

test("a seed gives the same run again", async () => {
  const [first, second] = [await runSeed(indexes, 7), await runSeed(indexes, 7)]
  expect(second).toEqual(first)
}, 120_000)

test("without faults no call fails, though nodes leave and come back", async () => {
  const { failures, sometimes } = await simulate(indexes, { seeds: 4, faults: noFaults() })
  expect(failures).toEqual([])
  expect(sometimes.get("an actor is imported")).toBeGreaterThan(0)
}, 120_000)

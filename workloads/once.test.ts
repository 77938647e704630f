import { expect, test } from "vitest"
import { noFaults, runSeed, simulate } from "../src/sim/index.js"
import { once } from "./once.js"
import { shares } from "./shares.js"

// So few seeds need not reach every place; a run by hand has to.
test(`${shares.once} seeds of intents hold their invariants`, async () => {
  const { failures, problems } = await simulate(once, { seeds: shares.once })
  expect(failures).toEqual([])
  expect(problems.filter((problem) => !problem.startsWith("never reached"))).toEqual([])
}, 120_000)

test("a seed gives the same run again", async () => {
  const [first, second] = [await runSeed(once, 7), await runSeed(once, 7)]
  expect(second).toEqual(first)
})

test("without faults every intent is told of", async () => {
  const { failures, sometimes } = await simulate(once, { seeds: 3, faults: noFaults() })
  expect(failures).toEqual([])
  expect(sometimes.get("the outcome of an intent is unknown")).toBe(0)
})

test("names whose commit is not decided are forgotten too, when a keeper looks for old ones", async () => {
  const { failure } = await runSeed(once, 46)
  expect(failure).toBeUndefined()
}, 60_000)

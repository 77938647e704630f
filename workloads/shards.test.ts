import { expect, test } from "vitest"
import { runSeed, simulate } from "../src/sim/index.js"
import { shards } from "./shards.js"
import { shares } from "./shares.js"

// So few seeds need not reach every place; a run by hand has to.
test(`${shares.shards} seeds of shards that move hold what must hold`, async () => {
  const { failures, problems } = await simulate(shards, { seeds: shares.shards })
  expect(failures).toEqual([])
  expect(problems.filter((problem) => !problem.startsWith("never reached"))).toEqual([])
}, 120_000)

test("a seed gives the same run again", async () => {
  const [first, second] = [await runSeed(shards, 7), await runSeed(shards, 7)]
  expect(second).toEqual(first)
}, 120_000)

import { expect, test } from "vitest"
import { runSeed, simulate } from "../src/sim/index.js"
import { shares } from "./shares.js"
import { stall } from "./stall.js"

test(`${shares.stall} seeds of nodes that stand still hold what must hold, and reach what they are to reach`, async () => {
  const { failures, problems } = await simulate(stall, { seeds: shares.stall })
  expect(failures).toEqual([])
  expect(problems).toEqual([])
}, 60_000)

test("a seed gives the same run again", async () => {
  const [first, second] = [await runSeed(stall, 3), await runSeed(stall, 3)]
  expect(second).toEqual(first)
})

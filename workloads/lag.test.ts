import { expect, test } from "vitest"
import { runSeed, simulate } from "../src/sim/index.js"
import { lag } from "./lag.js"
import { shares } from "./shares.js"

test(`${shares.lag} seeds of watches that lag hold what must hold, and reach what they are to reach`, async () => {
  const { failures, problems } = await simulate(lag, { seeds: shares.lag })
  expect(failures).toEqual([])
  expect(problems).toEqual([])
}, 60_000)

test("a seed gives the same run again", async () => {
  const [first, second] = [await runSeed(lag, 3), await runSeed(lag, 3)]
  expect(second).toEqual(first)
})

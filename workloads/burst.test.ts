import { expect, test } from "vitest"
import { runSeed, simulate } from "../src/sim/index.js"
import { burst } from "./burst.js"
import { shares } from "./shares.js"

test(`${shares.burst} seeds of nodes that are given much at once hold what must hold, and reach what they are to reach`, async () => {
  const { failures, problems } = await simulate(burst, { seeds: shares.burst })
  expect(failures).toEqual([])
  expect(problems).toEqual([])
}, 120_000)

test("a seed gives the same run again", async () => {
  const [first, second] = [await runSeed(burst, 3), await runSeed(burst, 3)]
  expect(second).toEqual(first)
})

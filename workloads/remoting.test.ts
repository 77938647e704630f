import { expect, test } from "vitest"
import { runSeed, simulate } from "../src/sim/index.js"
import { remoting } from "./remoting.js"
import { shares } from "./shares.js"

test(`${shares.remoting} seeds of nodes that talk to each other hold their invariants, and reach what they are to reach`, async () => {
  const { failures, problems } = await simulate(remoting, { seeds: shares.remoting })
  expect(failures).toEqual([])
  expect(problems).toEqual([])
})

test("a seed gives the same run again", async () => {
  const [first, second] = [await runSeed(remoting, 7), await runSeed(remoting, 7)]
  expect(second).toEqual(first)
})

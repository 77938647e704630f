import { expect, test } from "vitest"
import { noFaults, runSeed, simulate } from "../src/sim/index.js"
import { activation } from "./activation.js"
import { shares } from "./shares.js"

test(`${shares.activation} seeds of actors that are called from everywhere hold what must hold, and reach what they are to reach`, async () => {
  const { failures, problems } = await simulate(activation, { seeds: shares.activation })
  expect(failures).toEqual([])
  expect(problems).toEqual([])
}, 120_000)

test("a seed gives the same run again", async () => {
  const [first, second] = [await runSeed(activation, 7), await runSeed(activation, 7)]
  expect(second).toEqual(first)
})

test("without faults nothing is fenced, and no answer is lost", async () => {
  const { failures, sometimes } = await simulate(activation, { seeds: 8, faults: noFaults() })
  expect(failures).toEqual([])
  for (const never of ["a call fails: Fenced", "a call fails: NodeUnreachable", "a stale save is refused"]) {
    expect(sometimes.get(never), never).toBe(0)
  }
})

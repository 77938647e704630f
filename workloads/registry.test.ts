import { expect, test } from "vitest"
import { noFaults, runSeed, simulate } from "../src/sim/index.js"
import { registry } from "./registry.js"

test("100 seeds of nodes that share actors hold their invariants, and reach what they are to reach", async () => {
  const { failures, problems } = await simulate(registry, { seeds: 100 })
  expect(failures).toEqual([])
  expect(problems).toEqual([])
}, 120_000)

test("a seed gives the same run again", async () => {
  const [first, second] = [await runSeed(registry, 7), await runSeed(registry, 7)]
  expect(second).toEqual(first)
})

test("without faults no save is refused, and no lease runs out that was not left behind", async () => {
  const { failures, sometimes } = await simulate(registry, { seeds: 10, faults: noFaults() })
  expect(failures).toEqual([])
  expect(sometimes.get("what became of a save is never known")).toBe(0)
  expect(sometimes.get("a node is fenced: the lease was ended by another node")).toBe(0)
})

test("seed 5, where a node that was ended before its join was answered stayed in its own view", async () => {
  expect((await runSeed(registry, 5)).failure).toBeUndefined()
})

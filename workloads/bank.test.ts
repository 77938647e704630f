import { expect, test } from "vitest"
import { noFaults, runSeed, simulate } from "../src/sim/index.js"
import { bank, bankWith } from "./bank.js"
import { shares } from "./shares.js"

test(`${shares.bank} seeds of transfers hold their invariants, and reach what they are to reach`, async () => {
  const { failures, problems } = await simulate(bank, { seeds: shares.bank })
  expect(failures).toEqual([])
  expect(problems).toEqual([])
}, 120_000)

test("a seed gives the same run again", async () => {
  const [first, second] = [await runSeed(bank, 7), await runSeed(bank, 7)]
  expect(second).toEqual(first)
})

test("without faults every transfer is told of, and no node is fenced, though nodes leave and come back", async () => {
  const { failures, sometimes } = await simulate(bank, { seeds: 10, faults: noFaults() })
  expect(failures).toEqual([])
  expect(sometimes.get("a node leaves and comes back")).toBeGreaterThan(0)
  expect(sometimes.get("the outcome of a transfer is unknown")).toBe(0)
  expect(sometimes.get("a fenced node comes back")).toBe(0)
})

test("accounts that do not recognize a slip are found to apply a transfer twice", async () => {
  const { failures } = await simulate(bankWith({ recognizesSlips: false }, "bank-forgetful"), { seeds: 10 })
  expect(failures[0]?.failure.what).toBe("no transfer is applied twice, nor undone, nor changed")
})

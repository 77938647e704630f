import { expect, test } from "vitest"
import { noFaults, runSeed, simulate } from "../src/sim/index.js"
import { reminders } from "./reminders.js"
import { shares } from "./shares.js"

// So few seeds need not reach every place; a run by hand has to.
test(`${shares.reminders} seeds of reminders hold their invariants`, async () => {
  const { failures, problems } = await simulate(reminders, { seeds: shares.reminders })
  expect(failures).toEqual([])
  expect(problems.filter((problem) => !problem.startsWith("never reached"))).toEqual([])
}, 120_000)

test("a seed gives the same run again", async () => {
  const [first, second] = [await runSeed(reminders, 7), await runSeed(reminders, 7)]
  expect(second).toEqual(first)
}, 120_000)

test("without faults no call fails, though nodes leave and come back", async () => {
  const { failures, sometimes } = await simulate(reminders, { seeds: 5, faults: noFaults() })
  expect(failures).toEqual([])
  expect(sometimes.get("a reminder fires")).toBeGreaterThan(0)
  expect(sometimes.get("a node leaves and comes back")).toBeGreaterThan(0)
  expect(sometimes.get("a call fails")).toBe(0)
}, 120_000)

test("the first reminder of a type is in time, though its ward is kept already", async () => {
  const { failure } = await runSeed(reminders, 21, { faults: noFaults() })
  expect(failure).toBeUndefined()
}, 60_000)

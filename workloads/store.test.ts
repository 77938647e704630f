import { expect, test } from "vitest"
import { noFaults, runSeed, simulate } from "../src/sim/index.js"
import { shares } from "./shares.js"
import { store, storeWith } from "./store.js"

test(`${shares.store} seeds of clients of a store hold what must hold, and reach what they are to reach`, async () => {
  const { failures, problems } = await simulate(store, { seeds: shares.store })
  expect(failures).toEqual([])
  expect(problems).toEqual([])
})

test("a seed gives the same run again", async () => {
  const [first, second] = [await runSeed(store, 7), await runSeed(store, 7)]
  expect(second).toEqual(first)
})

test("without faults every operation is done, and nothing is left unknown", async () => {
  const { failures, sometimes } = await simulate(store, { seeds: 10, faults: noFaults() })
  expect(failures).toEqual([])
  expect(sometimes.get("something stays unknown")).toBe(0)
  expect(sometimes.get("a watch hears a gap")).toBe(0)
})

test("a commit on absence that is sent again where keys are deleted is found to be made twice", async () => {
  const faults = { ...noFaults(), "store-late-arrival": 1, "store-lost-answer": 1 }
  const { failures } = await simulate(storeWith({ resendsWhereAbsent: true }, "store-resent"), {
    seeds: 300,
    faults,
  })
  expect(failures[0]?.failure.what).toBe("what clients saw is linearizable")
})

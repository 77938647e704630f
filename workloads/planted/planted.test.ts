import { describe, expect, test } from "vitest"
import {
  type FaultPlan,
  noFaults,
  runSeed,
  type SeedReport,
  simulate,
  type Workload,
} from "../../src/sim/index.js"
import { clockJump } from "./clock-jump.js"
import { doubleGrant } from "./double-grant.js"
import { lostUpdate } from "./lost-update.js"
import type { Version } from "./version.js"

const planted: [string, (version: Version) => Workload, broken: string][] = [
  ["a lost update", lostUpdate, "adds are linearizable"],
  ["a lock granted without a majority", doubleGrant, "one holder at a time"],
  ["a lease that ends on a clock jump", clockJump, "one holder at a time"],
]

const SEEDS = 200

describe.each(planted)("%s", (_name, make, broken) => {
  test("is found, and found again by its seed", async () => {
    const found = await firstFailure(make("buggy"))
    expect(found?.failure?.what).toBe(broken)
    const replayed = await runSeed(make("buggy"), found?.seed ?? 0)
    expect(replayed).toEqual(found)
  })

  test("is not there once it is mended", async () => {
    const { failures, problems } = await simulate(make("mended"), { seeds: SEEDS })
    expect({ failures, problems }).toEqual({ failures: [], problems: [] })
  })
})

test("partitions alone show a lock granted without a majority, and no fault at all does not", async () => {
  const found = await firstFailure(doubleGrant("buggy"), { ...noFaults(), partition: 1 })
  expect(found?.failure?.what).toBe("one holder at a time")
  const { failures } = await simulate(doubleGrant("buggy"), { seeds: 20, faults: noFaults() })
  expect(failures).toEqual([])
})

test("clock jumps alone show a lease by the wall clock, and no fault at all does not", async () => {
  const found = await firstFailure(clockJump("buggy"), { ...noFaults(), "clock-jump": 1 })
  expect(found?.failure?.what).toBe("one holder at a time")
  const { failures } = await simulate(clockJump("buggy"), { seeds: 20, faults: noFaults() })
  expect(failures).toEqual([])
})

async function firstFailure(workload: Workload, faults?: FaultPlan): Promise<SeedReport | undefined> {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const report = await runSeed(workload, seed, faults === undefined ? {} : { faults })
    if (report.failure !== undefined) return report
  }
  return undefined
}

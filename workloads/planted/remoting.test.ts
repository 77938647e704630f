import { describe, expect, test } from "vitest"
import {
  type FaultPlan,
  noFaults,
  runSeed,
  type SeedOptions,
  type SeedReport,
  simulate,
  type Workload,
} from "../../src/sim/index.js"
import { droppedWhenFull } from "./remoting-dropped-when-full.js"
import { overtaking } from "./remoting-overtaking.js"
import { shortChecksum } from "./remoting-short-checksum.js"
import { writtenTwice } from "./remoting-written-twice.js"
import type { Version } from "./version.js"

const planted: [string, (version: Version) => Workload, broken: string, faults?: FaultPlan][] = [
  ["a batch that is written twice", writtenTwice, "nothing is delivered twice"],
  ["small writes that large ones overtake", overtaking, "order is kept for each sender and receiver"],
  [
    "a checksum of the first bytes only",
    shortChecksum,
    "a chain is bit for bit what was sent",
    { ...noFaults(), corruption: 1 },
  ],
  ["a buffer that drops when it is full", droppedWhenFull, "nothing is lost on a connection that holds"],
]

const SEEDS = 40

describe.each(planted)("%s", (_name, make, broken, faults) => {
  const options = faults === undefined ? {} : { faults }

  test("is found, found again by its seed, and not there once it is mended", async () => {
    const found = await firstFailure(make("buggy"), broken, options)
    expect(found?.failure?.what).toBe(broken)
    const seed = found?.seed ?? 0
    expect(await runSeed(make("buggy"), seed, options)).toEqual(found)
    const { failures } = await simulate(make("mended"), { ...options, from: seed, seeds: 5 })
    expect(failures).toEqual([])
  })
})

/** A bug may first show as something else that it causes. */
async function firstFailure(
  workload: Workload,
  broken: string,
  options: SeedOptions,
): Promise<SeedReport | undefined> {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const report = await runSeed(workload, seed, options)
    if (report.failure?.what === broken) return report
  }
  return undefined
}

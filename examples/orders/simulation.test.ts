import { noFaults, runSeed, type SeedReport, simulate, type Workload } from "troupe/sim"
import { expect, test } from "vitest"
import { Stock } from "./stock.js"
import { shop } from "./workload.js"

test("goods and money add up, whatever happens to the machines", async () => {
  const { failures, problems } = await simulate(shop("orders"), { seeds: 24 })
  expect({ failures, problems }).toEqual({ failures: [], problems: [] })
})

/** Forgets an id as soon as its reservation has ended, so that the table stays small: the classic bug. */
class ForgetfulStock extends Stock {
  protected override readonly keepIdsMs = 0
}

test("a seed finds the stock that forgets ids too early, and replays it", async () => {
  const forgetful = shop("orders of a forgetful stock", ForgetfulStock)
  const found = await firstFailure(forgetful, 200)
  expect(found?.failure?.what).toBe("the stock adds up")

  const seed = found?.seed ?? 0
  expect((await runSeed(forgetful, seed, { faults: partitions })).hash).toBe(found?.hash)
  expect((await runSeed(shop("orders"), seed, { faults: partitions })).failure).toBeUndefined()
})

/** A partition holds attempts back while another node completes the order. */
const partitions = { ...noFaults(), partition: 1 }

async function firstFailure(workload: Workload, seeds: number): Promise<SeedReport | undefined> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const report = await runSeed(workload, seed, { faults: partitions })
    if (report.failure !== undefined) return report
  }
  return undefined
}

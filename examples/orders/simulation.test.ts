import { oneWay } from "troupe"
import { runSeed, type SeedReport, simulate, type Workload } from "troupe/sim"
import { expect, test } from "vitest"
import { Order } from "./order.js"
import { Stock } from "./stock.js"
import { shop } from "./workload.js"

test("goods and money add up, whatever happens to the machines", async () => {
  const { failures, problems } = await simulate(shop("orders"), { seeds: 6 })
  expect({ failures, problems }).toEqual({ failures: [], problems: [] })
})

/** Calls the stock beside the commit of its turn, and not with it: the classic bug. */
class HastyOrder extends Order {
  override afterCharging(isPaid: boolean): void {
    const { item, quantity } = this.goTo(isPaid ? "shipped" : "rejected")
    const stock = oneWay(this.actor(Stock, item))
    if (isPaid) stock.ship(quantity)
    else stock.release(quantity)
  }
}

test("a seed finds the order that calls beside its commit, and replays it", async () => {
  const hasty = shop("hasty orders", HastyOrder)
  const found = await firstFailure(hasty, 60)
  expect(found?.failure?.what).toBe("the stock adds up")

  const seed = found?.seed ?? 0
  expect((await runSeed(hasty, seed)).hash).toBe(found?.hash)
  expect((await runSeed(shop("orders"), seed)).failure).toBeUndefined()
})

async function firstFailure(workload: Workload, seeds: number): Promise<SeedReport | undefined> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const report = await runSeed(workload, seed)
    if (report.failure !== undefined) return report
  }
  return undefined
}

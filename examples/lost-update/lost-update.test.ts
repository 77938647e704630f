import { runSeed, simulate } from "troupe/sim"
import { expect, test } from "vitest"
import { carefulTeller, hastyTeller } from "./teller.js"
import { deposits } from "./workload.js"

const hasty = deposits("hasty", hastyTeller)
const careful = deposits("careful", carefulTeller)

test("a seed on which hasty tellers lose a deposit can be replayed", async () => {
  const { failures, seeds } = await simulate(hasty, { seeds: 50 })
  const [found] = failures
  expect(found?.failure.what).toBe("no deposit is lost")
  expect(failures.length, "only a race shows it").toBeLessThan(seeds / 2)

  const first = await runSeed(hasty, found?.seed ?? 0)
  const again = await runSeed(hasty, found?.seed ?? 0)
  expect(first.failure).toEqual(found?.failure)
  expect(again).toEqual(first)
})

test("careful tellers lose no deposit", async () => {
  const { failures, problems } = await simulate(careful, { seeds: 200 })
  expect({ failures, problems }).toEqual({ failures: [], problems: [] })
})

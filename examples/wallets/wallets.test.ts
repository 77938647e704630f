import { noFaults, runSeed, simulate } from "troupe/sim"
import { expect, test } from "vitest"
import { payments } from "./wallets.js"

const careful = (id: string) => id
/** Takes every attempt for a new payment: the classic bug. */
const careless = (id: string, attempt: number) => `${id}, attempt ${attempt}`

test("wallets count each payment once, whatever fails", async () => {
  const { failures, problems } = await simulate(payments("careful", careful), { seeds: 30 })
  expect({ failures, problems }).toEqual({ failures: [], problems: [] })
})

test("a seed on which a careless client pays twice can be replayed", async () => {
  const workload = payments("careless", careless)
  const { failures } = await simulate(workload, { seeds: 10 })
  const [found] = failures
  expect(found?.failure.what).toBe("each payment counts once")
  expect(found?.failure.at).toMatch(/wallets\.ts:\d+$/)
  expect((await runSeed(workload, found?.seed ?? 0)).failure).toEqual(found?.failure)
})

test("where a restored backup loses payments, the failure says so", async () => {
  const faults = { ...noFaults(), "store-epoch": 1 }
  const { failures } = await simulate(payments("restored", careful), { seeds: 40, faults })
  expect(failures.map(({ failure }) => failure.detail)).toContainEqual(
    expect.stringMatching(/was restored to an earlier state.*; acknowledged writes were lost with it$/),
  )
})

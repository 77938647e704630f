import { noFaults, runSeed, simulate } from "troupe/sim"
import { expect, test } from "vitest"
import { payments, Wallet } from "./wallets.js"

/** Takes every payment for a new one. */
class ForgetfulWallet extends Wallet {
  protected override isPaid() {
    return false
  }
}

test("wallets count each payment once, whatever fails", async () => {
  const { failures, problems } = await simulate(payments("wallets", Wallet), { seeds: 30 })
  expect({ failures, problems }).toEqual({ failures: [], problems: [] })
})

test("a seed on which a forgetful wallet counts a payment twice can be replayed", async () => {
  const forgetful = payments("forgetful", ForgetfulWallet)
  const { failures } = await simulate(forgetful, { seeds: 10 })
  const [found] = failures
  expect(found?.failure.what).toBe("each payment counts once")
  expect(found?.failure.at).toMatch(/wallets\.ts:\d+$/)
  expect((await runSeed(forgetful, found?.seed ?? 0)).failure).toEqual(found?.failure)
})

test("where a restored backup loses payments, the failure says so", async () => {
  const faults = { ...noFaults(), "store-epoch": 1 }
  const { failures } = await simulate(payments("restored", Wallet), { seeds: 40, faults })
  expect(failures.map(({ failure }) => failure.detail)).toContainEqual(
    expect.stringMatching(/was restored to an earlier state.*; acknowledged writes were lost with it$/),
  )
})

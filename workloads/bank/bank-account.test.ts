import { describe, expect, it, onTestFinished } from "vitest"
import { ActorSystem, consoleLogger } from "../../src/index.js"
import { BankAccount, OPENING_BALANCE } from "./bank-account.js"

describe("an account", () => {
  it("applies a slip once, however often it is handed in", async () => {
    const account = await opened()
    const slip = { teller: "t", number: 1, amount: 30 }
    const receipt = { accepted: true, balance: OPENING_BALANCE + 30 }
    expect(await account.deposit(slip)).toEqual(receipt)
    expect(await account.deposit(slip)).toEqual(receipt)
    const { balance, tellers } = await account.statement()
    expect(balance).toBe(OPENING_BALANCE + 30)
    expect(tellers["t"]).toMatchObject({ number: 1, accepted: true })
  })

  it("does not carry out a slip that comes after a later one", async () => {
    const account = await opened()
    await account.deposit({ teller: "t", number: 2, amount: 30 })
    await account.deposit({ teller: "t", number: 1, amount: 500 })
    await account.deposit({ teller: "other", number: 1, amount: 7 })
    expect(await account.statement()).toMatchObject({ balance: OPENING_BALANCE + 37 })
  })

  it("stays with a refusal, also when there is enough money by then", async () => {
    const account = await opened()
    const tooMuch = { teller: "t", number: 1, amount: OPENING_BALANCE + 1 }
    expect(await account.withdraw(tooMuch)).toMatchObject({ accepted: false })
    await account.deposit({ teller: "other", number: 1, amount: 50 })
    expect(await account.withdraw(tooMuch)).toMatchObject({ accepted: false })
    expect(await account.statement()).toMatchObject({ balance: OPENING_BALANCE + 50 })
    expect(await account.withdraw({ ...tooMuch, number: 2 })).toMatchObject({ accepted: true })
  })
})

async function opened() {
  const system = await ActorSystem.start({
    namespace: "test",
    actors: [BankAccount],
    logger: consoleLogger({ level: "error" }),
  })
  onTestFinished(() => system.stop())
  return system.actor(BankAccount, "a")
}

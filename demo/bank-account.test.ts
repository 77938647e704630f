import { describe, expect, it, onTestFinished } from "vitest"
import { ActorSystem, consoleLogger, withOptions } from "../src/index.js"
import { BankAccount, OPENING_BALANCE, type Statement } from "./bank-account.js"

describe("an account", () => {
  it("sends the money that it takes, once for each operation", async () => {
    const { account, statementOnce } = await opened()
    const slip = { teller: "t", number: 1, amount: 30 }
    const repeated = withOptions(account("a"), { operation: "rent" })
    expect(await repeated.transfer("b", slip)).toBe(true)
    expect(await repeated.transfer("b", slip)).toBe(true)
    expect(await account("a").transfer("b", { ...slip, number: 2 })).toBe(true)
    expect(await account("a").statement()).toMatchObject({ balance: OPENING_BALANCE - 60, paid: 2 })
    expect(await statementOnce("b", ({ received }) => received >= 2)).toMatchObject({
      balance: OPENING_BALANCE + 60,
      paid: 0,
      received: 2,
    })
  })

  it("refuses to pay more than there is, and stays with that", async () => {
    const { account } = await opened()
    const tooMuch = { teller: "t", number: 1, amount: OPENING_BALANCE + 1 }
    const repeated = withOptions(account("a"), { operation: "a boat" })
    expect(await repeated.transfer("b", tooMuch)).toBe(false)
    await account("a").deposit({ teller: "other", number: 1, amount: 50 })
    expect(await repeated.transfer("b", tooMuch)).toBe(false)
    expect(await account("a").statement()).toMatchObject({ balance: OPENING_BALANCE + 50, paid: 0 })
    expect(await account("a").transfer("b", tooMuch)).toBe(true)
  })
})

async function opened() {
  const system = await ActorSystem.start({
    namespace: "test",
    actors: [BankAccount],
    logger: consoleLogger({ level: "error" }),
  })
  onTestFinished(() => system.stop())
  const account = (key: string) => system.actor(BankAccount, key)
  /** A message is on its way for a moment. */
  const statementOnce = async (key: string, isIt: (statement: Statement) => boolean) => {
    for (;;) {
      const statement = await account(key).statement()
      if (isIt(statement)) return statement
    }
  }
  return { account, statementOnce }
}

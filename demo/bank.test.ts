import { describe, expect, it } from "vitest"
import { type ActorHandle, TimeoutError } from "../src/index.js"
import { Bank } from "./bank.js"
import { type BankAccount, enter, openedAccount, type Slip } from "./bank-account.js"

type Call = (what: "withdraw" | "deposit", slip: Slip) => Promise<boolean>

describe("a teller", () => {
  it("retries a transfer with the same slip until it is answered", async () => {
    const asked: string[] = []
    const answers = ["lost", "yes", "lost", "lost", "yes"]
    const { bank } = await transferOnce((what, { number }) => {
      asked.push(`${what} ${number}`)
      return answers.shift() === "lost" ? lost() : yes()
    })
    expect(asked).toEqual(["withdraw 1", "withdraw 1", "deposit 1", "deposit 1", "deposit 1"])
    expect(bank).toMatchObject({ transfers: 1, retries: { unknown: 3, "not-delivered": 0 } })
    expect([bank.calls.count, bank.takeRecentCalls().count, bank.takeRecentCalls().count]).toEqual([2, 2, 0])
  })

  it("deposits nothing that could not be withdrawn", async () => {
    const asked: string[] = []
    const { bank } = await transferOnce(async (what) => {
      asked.push(what)
      return false
    })
    expect(asked).toEqual(["withdraw"])
    expect(bank.transfers).toBe(0)
  })

  it("does not hide what is not a matter of calls", async () => {
    const { audited } = await transferOnce(() => Promise.reject(new RangeError("a mistake")))
    await expect(audited).rejects.toThrow("a mistake")
  })
})

describe("an audit", () => {
  it("finds nothing where each account has what was acknowledged", async () => {
    const { bank } = await transferOnce(yes)
    expect(await bank.audit()).toEqual({ sum: bank.books.total, problems: [] })
    bank.work()
    expect(await bank.audit()).toMatchObject({ problems: [] })
    expect(bank.transfers).toBe(2)
  })

  it("finds an account that has forgotten, and the money that is missing with it", async () => {
    const { audited } = await transferOnce(yes, { forgets: "deposit" })
    const { problems } = await audited
    expect(problems).toEqual([
      expect.stringMatching(/^account-\d has 1000, and should have 10\d\d$/),
      expect.stringMatching(/^account-\d has 0 transfers of t1, and 1 were acknowledged/),
      expect.stringMatching(/^all accounts have 19\d\d, and should have 2000$/),
    ])
  })
})

/** One teller, two accounts, and an audit that is asked for while the first transfer is in flight. */
async function transferOnce(call: Call, { forgets }: { forgets?: "deposit" } = {}) {
  const states = new Map<string, ReturnType<typeof openedAccount>>()
  const accountOf = (key: string) => {
    const state = states.get(key) ?? openedAccount()
    states.set(key, state)
    const decide = async (what: "withdraw" | "deposit", slip: Slip) => {
      const accepted = await call(what, slip)
      const change = what === "deposit" ? slip.amount : -slip.amount
      if (what !== forgets) enter(state, slip, accepted ? change : "refused")
      return { accepted, balance: state.balance }
    }
    return {
      withdraw: (slip: Slip) => decide("withdraw", slip),
      deposit: (slip: Slip) => decide("deposit", slip),
      statement: async () => ({ ...state, generation: 1 }),
    } as unknown as ActorHandle<BankAccount>
  }
  const bank = new Bank(accountOf, { accounts: 2, tellers: 1, seed: 1 })
  bank.work()
  const audited = bank.audit()
  await audited.catch(() => {})
  return { bank, audited }
}

async function yes(): Promise<boolean> {
  return true
}

function lost(): Promise<boolean> {
  return Promise.reject(new TimeoutError("a", 1))
}

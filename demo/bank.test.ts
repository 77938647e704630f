import { describe, expect, it } from "vitest"
import { type ActorHandle, TimeoutError } from "../src/index.js"
import { Bank, differences } from "./bank.js"
import {
  type AccountState,
  type BankAccount,
  enter,
  OPENING_BALANCE,
  openedAccount,
  type Slip,
} from "./bank-account.js"

type Decision = readonly [number: number, change: number | "refused"]
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
    // One withdrawal, one deposit, and two statements for the audit.
    expect(bank.calls.all.count).toBe(4)
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
    expect(await bank.audit()).toEqual({ sum: bank.total, problems: [] })
    bank.open()
    expect(await bank.audit()).toMatchObject({ problems: [] })
    expect(bank.transfers).toBe(2)
  })

  it("finds an account that has forgotten, and the money that is missing with it", async () => {
    const { audited } = await transferOnce(yes, { forgets: "deposit" })
    const { problems } = await audited
    expect(problems).toEqual([
      expect.stringMatching(/^account-\d has 1000, and should have 10\d\d$/),
      expect.stringMatching(/^account-\d has other transfers of t1 than were acknowledged$/),
      expect.stringMatching(/^all accounts have 19\d\d, and should have 2000$/),
    ])
  })
})

describe("the books of an account", () => {
  const answers: readonly Decision[] = [
    [1, 10],
    [2, "refused"],
    [4, -3],
  ]

  it("have no complaint about an account with just what was answered", () => {
    expect(differences("a", account(answers), account(answers))).toEqual([])
    expect(differences("b", account([]), account([]))).toEqual([])
  })

  it.each<[string, readonly Decision[]]>([
    ["is missing", [[1, 10]]],
    ["is there twice", [...answers, [4, 0]]],
    [
      "is there in place of another",
      [
        [1, 10],
        [5, -3],
      ],
    ],
    [
      "came in another order",
      [
        [4, -3],
        [1, 10],
      ],
    ],
    [
      "was refused and is there",
      [
        [1, 10],
        [2, 0],
        [4, -3],
      ],
    ],
  ])("notice a transfer that %s, whatever the balance says", (_, decisions) => {
    const found = { ...account(decisions), balance: OPENING_BALANCE + 7 }
    expect(differences("a", account(answers), found)).toEqual([
      "a has other transfers of t than were acknowledged",
    ])
  })

  it("notice a refusal that was forgotten, so that a late attempt could be accepted", () => {
    expect(differences("a", account([[1, "refused"]]), account([]))).toHaveLength(1)
  })

  it("notice a balance that is off, and transfers of a teller that nobody knows", () => {
    const off = { ...account([]), balance: OPENING_BALANCE - 1 }
    expect(differences("a", account([]), off)).toEqual(["a has 999, and should have 1000"])
    expect(differences("a", account([]), account([[1, 0]]))).toHaveLength(1)
  })
})

function account(decisions: readonly Decision[]): AccountState {
  const state = openedAccount()
  for (const [number, change] of decisions) enter(state, { teller: "t", number, amount: 1 }, change)
  return state
}

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
  bank.open()
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

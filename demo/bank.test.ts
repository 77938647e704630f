import { describe, expect, it } from "vitest"
import { type ActorHandle, type CallOptions, TimeoutError } from "../src/index.js"
import { Bank, differences } from "./bank.js"
import {
  type AccountState,
  type BankAccount,
  enter,
  OPENING_BALANCE,
  openedAccount,
  type Slip,
} from "./bank-account.js"

type Entry = readonly [number: number, side: "paid" | "received"]
/** Answers whether the account pays. */
type Call = (slip: Slip, options: CallOptions) => Promise<boolean>

describe("a teller", () => {
  it("retries a transfer with the same operation until it is answered", async () => {
    const asked: unknown[] = []
    const { bank } = await transferOnce(({ number }, { operation }) => {
      asked.push([number, operation])
      if (asked.length === 1) return lost("unknown", "first")
      return asked.length === 2 ? lost("not-delivered") : yes()
    })
    expect(asked).toEqual([
      [1, undefined],
      [1, "first"],
      [1, "first"],
    ])
    expect(bank).toMatchObject({ transfers: 1, retries: { transfers: 2, statements: 0 } })
    // One transfer, and two statements for the audit.
    expect(bank.calls.all.count).toBe(3)
  })

  it("counts no transfer that was refused", async () => {
    const { bank, audited } = await transferOnce(async () => false)
    expect(bank.transfers).toBe(0)
    expect(await audited).toEqual({ sum: bank.total, problems: [] })
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

  it("waits for money that is on its way", async () => {
    const { bank, audited } = await transferOnce(yes, { arrivesAfter: 4 })
    expect(await audited).toEqual({ sum: bank.total, problems: [] })
    // One transfer, and three statements of both accounts.
    expect(bank.calls.all.count).toBe(7)
  })

  it("finds money that does not arrive, and what is missing with it", async () => {
    const { audited } = await transferOnce(yes, { arrivesAfter: Number.POSITIVE_INFINITY })
    const { problems } = await audited
    expect(problems).toEqual([
      expect.stringMatching(/^account-\d has 1000, and should have 10\d\d$/),
      expect.stringMatching(/^account-\d has other transfers of t1 than were acknowledged$/),
      expect.stringMatching(/^all accounts have 19\d\d, and should have 2000$/),
    ])
  })
})

describe("the books of an account", () => {
  const entries: readonly Entry[] = [
    [1, "paid"],
    [2, "received"],
    [4, "paid"],
  ]

  it("have no complaint about an account with just what was answered, in any order", () => {
    expect(differences("a", account(entries), account(entries))).toEqual([])
    expect(differences("a", account(entries), account(entries.toReversed()))).toEqual([])
    expect(differences("b", account([]), account([]))).toEqual([])
  })

  it.each<[string, readonly Entry[]]>([
    ["is missing", entries.slice(0, 2)],
    ["is there twice", [...entries, [4, "paid"]]],
    ["is there in place of another", [...entries.slice(0, 2), [5, "paid"]]],
    ["is there twice in place of another", [...entries.slice(0, 2), [1, "paid"]]],
    ["went the other way", [...entries.slice(0, 2), [4, "received"]]],
  ])("notice a transfer that %s, whatever the balance says", (_, others) => {
    const found = { ...account(others), balance: account(entries).balance }
    expect(differences("a", account(entries), found)).toEqual([
      "a has other transfers of t than were acknowledged",
    ])
  })

  it("notice a balance that is off, and transfers of a teller that nobody knows", () => {
    const off = { ...account([]), balance: OPENING_BALANCE - 1 }
    expect(differences("a", account([]), off)).toEqual(["a has 999, and should have 1000"])
    const unknown = { ...account([[1, "paid"]]), balance: OPENING_BALANCE }
    expect(differences("a", account([]), unknown)).toHaveLength(1)
  })
})

function account(entries: readonly Entry[]): AccountState {
  const state = openedAccount()
  for (const [number, side] of entries) enter(state, { teller: "t", number, amount: 1 }, side)
  return state
}

/**
 * One teller, two accounts, and an audit that is asked for while the first transfer is in flight. The money of a
 * transfer arrives when the accounts were asked for so many statements.
 */
async function transferOnce(call: Call, { arrivesAfter = 0 }: { arrivesAfter?: number } = {}) {
  const states = new Map<string, AccountState>()
  const stateOf = (key: string) => {
    const state = states.get(key) ?? openedAccount()
    states.set(key, state)
    return state
  }
  let asked = 0
  const onTheirWay: (() => void)[] = []
  const arrive = () => {
    if (asked >= arrivesAfter) for (const arrives of onTheirWay.splice(0)) arrives()
  }
  const accountOf = (key: string, options: CallOptions) =>
    ({
      transfer: async (to: string, slip: Slip) => {
        if (!(await call(slip, options))) return false
        enter(stateOf(key), slip, "paid")
        onTheirWay.push(() => enter(stateOf(to), slip, "received"))
        arrive()
        return true
      },
      statement: async () => {
        const statement = { ...stateOf(key), generation: 1 }
        asked += 1
        arrive()
        return statement
      },
    }) as unknown as ActorHandle<BankAccount>
  const bank = new Bank(accountOf, { accounts: 2, tellers: 1, seed: 1, deliveredMs: 200 })
  bank.open()
  const audited = bank.audit()
  await audited.catch(() => {})
  return { bank, audited }
}

async function yes(): Promise<boolean> {
  return true
}

function lost(delivery: "unknown" | "not-delivered", operation?: string): Promise<boolean> {
  const error = new TimeoutError("a", 1, delivery)
  return Promise.reject(operation === undefined ? error : Object.assign(error, { operation }))
}

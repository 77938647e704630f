import { isDeepStrictEqual } from "node:util"
import { type AccountState, enter, openedAccount, type Slip, type Statement } from "./bank-account.js"

/**
 * What the tellers were told, account by account: what each account must say of itself.
 *
 * The sum of all balances would not show that two losses cancel each other out. So an account is compared teller by
 * teller: how many transfers it has, and which ones.
 */
export class Books {
  readonly #accounts = new Map<string, AccountState>()

  constructor(accounts: readonly string[]) {
    for (const account of accounts) this.#accounts.set(account, openedAccount())
  }

  get accounts(): readonly string[] {
    return [...this.#accounts.keys()]
  }

  get total(): number {
    return this.#accounts.size * openedAccount().balance
  }

  /** An account has answered a slip. */
  answered(account: string, slip: Slip, change: number | "refused"): void {
    enter(this.#expected(account), slip, change)
  }

  /** What is wrong with an account, while no transfer is in flight. */
  problemsOf(account: string, { balance, tellers }: Statement): readonly string[] {
    const expected = this.#expected(account)
    const names = new Set([...Object.keys(expected.tellers), ...Object.keys(tellers)])
    const wrong = [...names].filter((name) => !isDeepStrictEqual(tellers[name], expected.tellers[name]))
    return [
      ...(balance === expected.balance
        ? []
        : [`${account} has ${balance}, and should have ${expected.balance}`]),
      ...wrong.map(
        (name) =>
          `${account} has ${tellers[name]?.count ?? 0} transfers of ${name}, and ${expected.tellers[name]?.count ?? 0} were acknowledged; they are not the same ones`,
      ),
    ]
  }

  #expected(account: string): AccountState {
    const expected = this.#accounts.get(account)
    if (expected === undefined) throw new RangeError(`there is no account ${account}`)
    return expected
  }
}

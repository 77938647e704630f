import {
  NOTHING_YET,
  OPENING_BALANCE,
  type Statement,
  type TellersPart,
  withTransfer,
} from "./bank-account.js"

/**
 * What the tellers were told, account by account: what each account must say of itself in the end.
 *
 * The sum of all balances would not show that one transfer was lost on the one side and another on the other. So each account is compared by
 * teller: with how many transfers, and which ones, by a digest of their numbers in the order in which they were made.
 */
export class Books {
  readonly #pages = new Map<string, Page>()

  constructor(accounts: readonly string[]) {
    for (const account of accounts) this.#pages.set(account, { balance: OPENING_BALANCE, parts: new Map() })
  }

  get accounts(): readonly string[] {
    return [...this.#pages.keys()]
  }

  get total(): number {
    return this.#pages.size * OPENING_BALANCE
  }

  /** An account has said that this was done. */
  acknowledged(
    account: string,
    { teller, number }: { teller: string; number: number },
    change: number,
  ): void {
    const page = this.#page(account)
    page.balance += change
    page.parts.set(teller, withTransfer(page.parts.get(teller) ?? NOTHING_YET, number))
  }

  /** What is off about an account, while no transfer is under way. */
  problemsOf(account: string, { balance, tellers }: Statement): readonly string[] {
    const page = this.#page(account)
    const problems =
      balance === page.balance ? [] : [`${account} has ${balance}, and should have ${page.balance}`]
    for (const teller of new Set([...page.parts.keys(), ...Object.keys(tellers)])) {
      const due = page.parts.get(teller) ?? NOTHING_YET
      const there = tellers[teller] ?? NOTHING_YET
      if (!isSame(there, due)) {
        problems.push(
          `${account} has ${there.count} transfers of ${teller}, and ${due.count} were acknowledged; they are not the same ones`,
        )
      }
    }
    return problems
  }

  #page(account: string): Page {
    const page = this.#pages.get(account)
    if (page === undefined) throw new RangeError(`there is no account ${account}`)
    return page
  }
}

interface Page {
  balance: number
  readonly parts: Map<string, TellersPart>
}

/** The last number counts only as part of the digest: what was refused is the account's own affair. */
function isSame(a: TellersPart, b: TellersPart): boolean {
  return a.count === b.count && a.digest === b.digest
}

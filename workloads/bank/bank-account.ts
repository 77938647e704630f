import { Actor } from "../../src/index.js"

/**
 * An account whose methods are not `once`, and that decides each transfer once all the same, however often it is asked
 * to: what a program has to do by itself if it saves in plain turns.
 *
 * A call that fails with delivery `unknown` may have run, or may yet run. The teller retries it with the same
 * slip until it is answered, so an account has to recognize a slip. It need not remember all of them: a
 * teller makes one transfer at a time and numbers them, so a slip with the teller's last number or a lower
 * one has been decided. That includes refusals: without them a late first attempt would run after the teller
 * was refused and had gone on.
 */
export class BankAccount extends Actor<AccountState> {
  static readonly type = "BankAccount"
  static readonly methods = { statement: { readOnly: true } }

  protected override initialState(): AccountState {
    return { balance: OPENING_BALANCE, tellers: {} }
  }

  /** Refused if there is not enough money. */
  withdraw(slip: Slip): Promise<Receipt> {
    return this.#decide(slip, -slip.amount)
  }

  deposit(slip: Slip): Promise<Receipt> {
    return this.#decide(slip, slip.amount)
  }

  statement(): Statement {
    return { ...this.state, generation: this.fencingToken }
  }

  async #decide(slip: Slip, change: number): Promise<Receipt> {
    const last = this.state.tellers[slip.teller]
    if (last !== undefined && slip.number <= last.number) return this.#receipt(last.accepted)
    const accepted = this.state.balance + change >= 0
    enter(this.state, slip, accepted ? change : "refused")
    await this.save()
    return this.#receipt(accepted)
  }

  #receipt(accepted: boolean): Receipt {
    return { accepted, balance: this.state.balance }
  }
}

/** The order of a teller to withdraw or deposit money. */
export interface Slip {
  readonly teller: string
  /** Higher with each transfer of the teller. */
  readonly number: number
  readonly amount: number
}

/** The decision about a slip, and the present balance. */
export interface Receipt {
  readonly accepted: boolean
  readonly balance: number
}

export interface AccountState {
  balance: number
  /** In the order of their first slips. */
  readonly tellers: Record<string, TellersPart>
}

/** What one teller has done with an account. */
export interface TellersPart {
  /** Of the last slip, and the decision about it. */
  readonly number: number
  readonly accepted: boolean
  /** Of the numbers of all slips that were accepted, in order. */
  readonly digest: number
}

export interface Statement extends Readonly<AccountState> {
  /** Of the activation that answered: higher than that of every activation before it. */
  readonly generation: number
}

export const OPENING_BALANCE = 1_000

function enter(account: AccountState, { teller, number }: Slip, change: number | "refused"): void {
  const digest = account.tellers[teller]?.digest ?? 0
  if (change === "refused") {
    account.tellers[teller] = { number, accepted: false, digest }
  } else {
    account.balance += change
    account.tellers[teller] = {
      number,
      accepted: true,
      digest: (Math.imul(digest, 0x01000193) ^ number) >>> 0,
    }
  }
}

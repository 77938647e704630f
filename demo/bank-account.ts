import { Actor } from "../src/index.js"

/**
 * An account to which a transfer is applied once, however often it is asked for.
 *
 * A call that ends as `unknown` may have been carried out, or may yet be. Whoever made it asks again with the same slip until there is an
 * answer, so an account has to know a slip that it has seen. It need not remember them all: a teller makes one transfer at a time, and
 * numbers them, so the last number of each teller is enough. A slip with that number or a lower one has been decided. That goes for a
 * refusal as well: it is saved like a payment, or a first attempt that was late would be carried out after the teller was told
 * no and had gone on.
 */
export class BankAccount extends Actor<AccountState> {
  static readonly type = "BankAccount"
  static readonly methods = { statement: { readOnly: true } }

  protected override initialState(): AccountState {
    return { balance: OPENING_BALANCE, tellers: {} }
  }

  withdraw(slip: Slip): Promise<Receipt> {
    return this.#apply(slip, -slip.amount)
  }

  deposit(slip: Slip): Promise<Receipt> {
    return this.#apply(slip, slip.amount)
  }

  statement(): Statement {
    return { ...this.state, generation: this.fencingToken }
  }

  async #apply({ teller, number }: Slip, change: number): Promise<Receipt> {
    const { tellers } = this.state
    let known = tellers[teller] ?? NOTHING_YET
    if (number > known.last) {
      const accepted = this.state.balance + change >= 0
      known = accepted ? withTransfer(known, number) : { ...known, last: number, accepted }
      tellers[teller] = known
      if (accepted) this.state.balance += change
      await this.save()
    }
    return { accepted: known.accepted }
  }
}

export const OPENING_BALANCE = 1_000

/** What a teller wants to have done. */
export interface Slip {
  readonly teller: string
  /** From 1, and higher than that of the teller's last transfer. */
  readonly number: number
  readonly amount: number
}

export interface Receipt {
  /** False if there was not enough money. */
  readonly accepted: boolean
}

export interface AccountState {
  balance: number
  readonly tellers: Record<string, TellersPart>
}

/** What one teller has done with an account. */
export interface TellersPart {
  /** The number of the last transfer, and what was said to it. */
  readonly last: number
  readonly accepted: boolean
  /** How many were accepted. */
  readonly count: number
  /** Of their numbers, in their order. */
  readonly digest: number
}

export interface Statement extends Readonly<AccountState> {
  readonly generation: number
}

export const NOTHING_YET: TellersPart = { last: 0, accepted: true, count: 0, digest: 0 }

/** The same for the account that has applied a transfer and for the bank's books, which it is compared with. */
export function withTransfer({ count, digest }: TellersPart, number: number): TellersPart {
  return {
    last: number,
    accepted: true,
    count: count + 1,
    digest: (Math.imul(digest, 0x01000193) ^ number) >>> 0,
  }
}

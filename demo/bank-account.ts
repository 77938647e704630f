import { Actor } from "../src/index.js"

/**
 * An account. Whatever one of its turns decides is stored together, before the answer leaves, and is applied once:
 * there is no save to forget, no list of calls that were seen before, and no moment at which the money of a transfer is
 * in neither account nor on its way.
 */
export class BankAccount extends Actor<AccountState> {
  static readonly type = "BankAccount"
  static readonly methods = {
    transfer: { once: true },
    deposit: { once: true },
    statement: { readOnly: true },
  }

  protected override initialState(): AccountState {
    return openedAccount()
  }

  /** Takes the money and sends it on its way. Returns false if there is not enough of it. */
  transfer(to: string, slip: Slip): boolean {
    if (slip.amount > this.state.balance) return false
    enter(this.state, slip, "paid")
    // The message is stored with the balance, and then delivered, even if this process is killed.
    this.eventually(this.actor(BankAccount, to)).deposit(slip)
    return true
  }

  deposit(slip: Slip): void {
    enter(this.state, slip, "received")
  }

  statement(): Statement {
    return { ...this.state, generation: this.fencingToken }
  }
}

/** The order of a teller to transfer money. */
export interface Slip {
  readonly teller: string
  /** Of the teller's transfers, each has another one. */
  readonly number: number
  readonly amount: number
}

export interface AccountState {
  balance: number
  /** The numbers of transfers from this account and to it. */
  paid: number
  received: number
  /** By teller, a sum over the transfers that were entered. It does not depend on their order. */
  readonly digests: Record<string, number>
}

export interface Statement extends Readonly<AccountState> {
  /** Of the activation that answered: higher than that of every activation before it. */
  readonly generation: number
}

export const OPENING_BALANCE = 1_000

export function openedAccount(): AccountState {
  return { balance: OPENING_BALANCE, paid: 0, received: 0, digests: {} }
}

/**
 * Enters one side of a transfer: the account into its state, and the bank into the copy by which it audits the account.
 */
export function enter(
  account: AccountState,
  { teller, number, amount }: Slip,
  side: "paid" | "received",
): void {
  account.balance += side === "paid" ? -amount : amount
  account[side] += 1
  const entry = Math.imul(2 * number + (side === "paid" ? 1 : 0), 0x9e3779b1)
  account.digests[teller] = ((account.digests[teller] ?? 0) + (entry ^ (entry >>> 15))) >>> 0
}

import { Actor } from "../src/index.js"

/** What a client wants of an account. */
export interface Deposit {
  readonly amount: number
  /** What the account passes on to another one, by a message that leaves with the commit. */
  readonly passOn: Share | undefined
}

export interface Share {
  readonly to: string
  readonly amount: number
}

export interface AccountState {
  balance: number
  /** The operations that were applied, in their order: what the balance is made of. */
  applied: string[]
  /** The operations whose share came from another account. */
  received: string[]
}

/** The answer of an account: the position of the operation among all that it has applied, from 1. */
export interface Receipt {
  readonly position: number
  readonly balance: number
}

/** Money that is stored with the turn that moves it, and a list of all the operations that have moved it. */
export class Account extends Actor<AccountState> {
  static readonly type = "Account"
  static readonly methods = { deposit: { once: true }, receive: { once: true }, look: { readOnly: true } }

  protected override initialState(): AccountState {
    return { balance: 0, applied: [], received: [] }
  }

  deposit(operation: string, { amount, passOn }: Deposit): Receipt {
    const { state } = this
    state.balance += amount
    state.applied.push(operation)
    if (passOn !== undefined) {
      state.balance -= passOn.amount
      this.eventually(this.actor(Account, passOn.to)).receive(operation, passOn.amount)
    }
    return { position: state.applied.length, balance: state.balance }
  }

  receive(operation: string, amount: number): void {
    this.state.balance += amount
    this.state.received.push(operation)
  }

  look(): AccountState {
    return this.state
  }
}

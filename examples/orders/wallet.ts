import { Actor } from "troupe"
import { DAY_MS, forgetEnded, type IdTable } from "./id-table.js"

export interface WalletState {
  balance: number
  /** By order id: whether the customer paid. */
  readonly charges: IdTable<boolean>
}

/** The money of one customer, whose name is the key. */
export class Wallet extends Actor<WalletState> {
  static readonly type = "Wallet"
  static readonly methods = { balance: { readOnly: true } }

  protected override initialState(): WalletState {
    return { balance: OPENING_BALANCE, charges: new Map() }
  }

  /** Returns whether the customer paid for the order. May be called again with the same order id. */
  async charge(orderId: string, amount: number): Promise<boolean> {
    const known = this.state.charges.get(orderId)
    if (known !== undefined) return known.decision
    const isPaid = amount <= this.state.balance
    if (isPaid) this.state.balance -= amount
    this.state.charges.set(orderId, { decision: isPaid, endedAtMs: Date.now() })
    forgetEnded(this.state.charges, DAY_MS)
    try {
      await this.save()
    } catch (error) {
      this.deactivate() // the next call starts from the stored state, without this decision
      throw error
    }
    return isPaid
  }

  balance(): number {
    return this.state.balance
  }
}

export const OPENING_BALANCE = 200

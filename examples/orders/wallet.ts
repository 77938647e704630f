import { Actor } from "troupe"
import { Order } from "./order.js"

/** The money of one customer, whose name is the key. */
export class Wallet extends Actor<{ balance: number }> {
  static readonly type = "Wallet"
  static readonly once = true
  static readonly methods = { balance: { readOnly: true } }

  protected override initialState() {
    return { balance: OPENING_BALANCE }
  }

  /** Charges the customer for the order if there is enough, and tells the order. */
  charge(orderId: string, amount: number): void {
    const isPaid = amount <= this.state.balance
    if (isPaid) this.state.balance -= amount
    this.eventually(this.actor(Order, orderId)).afterCharging(isPaid)
  }

  balance(): number {
    return this.state.balance
  }
}

export const OPENING_BALANCE = 200

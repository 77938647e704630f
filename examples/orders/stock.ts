import { Actor } from "troupe"
import { Order } from "./order.js"

export interface StockLevel {
  available: number
  reserved: number
  shipped: number
}

/** The stock of one item, whose name is the key. */
export class Stock extends Actor<StockLevel> {
  static readonly type = "Stock"
  static readonly once = true
  static readonly methods = { level: { readOnly: true } }

  protected override initialState(): StockLevel {
    return { available: OPENING_STOCK, reserved: 0, shipped: 0 }
  }

  /** Reserves the quantity for the order if there is enough, and tells the order. */
  reserve(orderId: string, quantity: number): void {
    const isReserved = quantity <= this.state.available
    if (isReserved) this.#move(quantity, "available", "reserved")
    this.eventually(this.actor(Order, orderId)).afterReserving(isReserved)
  }

  /** Takes a reserved quantity out of the stock. */
  ship(quantity: number): void {
    this.#move(quantity, "reserved", "shipped")
  }

  /** Makes a reserved quantity available again. */
  release(quantity: number): void {
    this.#move(quantity, "reserved", "available")
  }

  level(): StockLevel {
    return this.state
  }

  #move(quantity: number, from: keyof StockLevel, to: keyof StockLevel): void {
    this.state[from] -= quantity
    this.state[to] += quantity
  }
}

export const OPENING_STOCK = 40

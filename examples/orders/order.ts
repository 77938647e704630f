import { Actor } from "troupe"
import { Stock } from "./stock.js"
import { Wallet } from "./wallet.js"

export interface OrderRequest {
  readonly customer: string
  readonly item: string
  readonly quantity: number
  readonly price: number
}

export type Status = "reserving" | "charging" | "shipped" | "rejected"

/** Undefined until the order is placed. */
export type OrderState = { readonly request: OrderRequest; readonly status: Status } | undefined

/**
 * One order, whose id is the key: reserves the goods, charges the customer and ships the goods, or releases
 * them if the customer cannot pay.
 *
 * Each step is a message, which is stored together with the status that it belongs to, and is applied once.
 * So an order that was placed comes to its end, whichever processes die on the way.
 */
export class Order extends Actor<OrderState> {
  static readonly type = "Order"
  static readonly once = true
  static readonly methods = { status: { readOnly: true } }

  protected override initialState(): OrderState {
    return undefined
  }

  /** Places the order. An order that was placed is not placed again: the id is the key of this actor. */
  place(request: OrderRequest): void {
    if (this.state !== undefined) return
    this.state = { request, status: "reserving" }
    this.eventually(this.actor(Stock, request.item)).reserve(this.key, request.quantity)
  }

  /** The answer of the stock. */
  afterReserving(isReserved: boolean): void {
    const { customer, quantity, price } = this.goTo(isReserved ? "charging" : "rejected")
    if (isReserved) this.eventually(this.actor(Wallet, customer)).charge(this.key, quantity * price)
  }

  /** The answer of the wallet. */
  afterCharging(isPaid: boolean): void {
    const { item, quantity } = this.goTo(isPaid ? "shipped" : "rejected")
    const stock = this.eventually(this.actor(Stock, item))
    if (isPaid) stock.ship(quantity)
    else stock.release(quantity)
  }

  status(): Status | undefined {
    return this.state?.status
  }

  protected goTo(status: Status): OrderRequest {
    const { request } = this.state as NonNullable<OrderState>
    this.state = { request, status }
    return request
  }
}

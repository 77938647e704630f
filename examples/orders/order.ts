import { Actor, preferLocal, withOptions } from "troupe"
import { retry } from "./retry.js"
import { Stock } from "./stock.js"
import { Wallet } from "./wallet.js"

export interface OrderRequest {
  readonly customer: string
  readonly item: string
  readonly quantity: number
  readonly price: number
}

export type Outcome = "shipped" | "rejected"
export type Step = "reserving" | "charging" | "shipping" | "releasing"

/** Undefined until the order is placed. */
export type OrderState = { readonly request: OrderRequest; readonly at: Step | Outcome } | undefined

/**
 * One order, whose id is the key: reserves the goods, charges the customer and ships the goods, or releases
 * them if the customer cannot pay.
 *
 * The state says which step comes next. Each step is a call with the order's id, so a step that was
 * interrupted can be made again, by this activation or by a later one on another node.
 */
export class Order extends Actor<OrderState> {
  static readonly type = "Order"
  static readonly placement = preferLocal

  protected override initialState(): OrderState {
    return undefined
  }

  /**
   * Places the order, or continues it. If this fails, call it again until it answers. It never becomes two
   * orders, because the id of the order is the key of this actor.
   */
  async place(request: OrderRequest): Promise<Outcome> {
    if (this.state === undefined) await this.#goTo("reserving", request)
    try {
      return await this.#finish()
    } catch (error) {
      // The caller's next attempt starts the order on another node, which may reach what this one cannot.
      this.deactivate()
      throw error
    }
  }

  async #finish(): Promise<Outcome> {
    for (;;) {
      const { at, request } = this.state as NonNullable<OrderState>
      if (at === "shipped" || at === "rejected") return at
      await this.#goTo(await this.#make(at, request), request)
    }
  }

  /** Makes one step, and returns what comes next. */
  async #make(step: Step, { item, customer, quantity, price }: OrderRequest): Promise<Step | Outcome> {
    const stock = withOptions(this.actor(Stock, item), { timeoutMs: 1_000 })
    const wallet = withOptions(this.actor(Wallet, customer), { timeoutMs: 1_000 })
    const retried = <T>(call: () => Promise<T>) => retry(call, { isIdempotent: true, signal: this.signal })
    switch (step) {
      case "reserving": {
        const isReserved = await retried(() => stock.reserve(this.key, quantity))
        return isReserved ? "charging" : "rejected"
      }
      case "charging": {
        const isPaid = await retried(() => wallet.charge(this.key, quantity * price))
        return isPaid ? "shipping" : "releasing"
      }
      case "shipping":
        await retried(() => stock.ship(this.key))
        return "shipped"
      case "releasing":
        await retried(() => stock.release(this.key))
        return "rejected"
    }
  }

  async #goTo(at: Step | Outcome, request: OrderRequest): Promise<void> {
    this.state = { request, at }
    await this.save()
  }
}

import { Actor } from "troupe"
import { DAY_MS, forgetEnded, type IdTable } from "./id-table.js"

export interface StockState {
  available: number
  shipped: number
  /** By order id. */
  readonly reservations: IdTable<Reservation>
}

export interface Reservation {
  readonly quantity: number
  readonly outcome: "reserved" | "refused" | "shipped" | "released"
}

/** The stock of one item, whose name is the key. Every call may be made again with the same order id. */
export class Stock extends Actor<StockState> {
  static readonly type = "Stock"
  static readonly methods = { level: { readOnly: true } }

  /** How long the id of an ended reservation is kept. */
  protected readonly keepIdsMs: number = DAY_MS

  protected override initialState(): StockState {
    return { available: OPENING_STOCK, shipped: 0, reservations: new Map() }
  }

  /** Returns whether the quantity is reserved for the order. A refusal is remembered too, and is final. */
  async reserve(orderId: string, quantity: number): Promise<boolean> {
    const known = this.state.reservations.get(orderId)
    if (known !== undefined) return known.decision.outcome !== "refused"
    const isAccepted = quantity <= this.state.available
    if (isAccepted) this.state.available -= quantity
    await this.#decide(orderId, { quantity, outcome: isAccepted ? "reserved" : "refused" })
    return isAccepted
  }

  /** Takes the reserved quantity out of the stock. */
  async ship(orderId: string): Promise<void> {
    const quantity = this.#reservedFor(orderId)
    if (quantity === undefined) return
    this.state.shipped += quantity
    await this.#decide(orderId, { quantity, outcome: "shipped" })
  }

  /** Makes the reserved quantity available again. */
  async release(orderId: string): Promise<void> {
    const quantity = this.#reservedFor(orderId)
    if (quantity === undefined) return
    this.state.available += quantity
    await this.#decide(orderId, { quantity, outcome: "released" })
  }

  level(): { available: number; reserved: number; shipped: number } {
    const { available, shipped, reservations } = this.state
    const quantities = [...reservations.keys()].map((orderId) => this.#reservedFor(orderId) ?? 0)
    return { available, reserved: quantities.reduce((sum, one) => sum + one, 0), shipped }
  }

  #reservedFor(orderId: string): number | undefined {
    const known = this.state.reservations.get(orderId)?.decision
    return known?.outcome === "reserved" ? known.quantity : undefined
  }

  async #decide(orderId: string, decision: Reservation): Promise<void> {
    const isOpen = decision.outcome === "reserved"
    this.state.reservations.set(orderId, isOpen ? { decision } : { decision, endedAtMs: Date.now() })
    forgetEnded(this.state.reservations, this.keepIdsMs)
    try {
      await this.save()
    } catch (error) {
      this.deactivate() // the next call starts from the stored state, without this decision
      throw error
    }
  }
}

export const OPENING_STOCK = 40

import type { SeededRandom } from "../../src/sim/index.js"
import { OPENING_BALANCE } from "./bank-account.js"
import type { Order, Outcome } from "./transfer.js"

/**
 * All orders of a run. It stands outside of all machines: who gave an order knows its id, whatever becomes of
 * those who carry it out.
 */
export class OrderBook {
  readonly accounts: readonly string[]
  readonly #most: number
  readonly #entries = new Map<string, Entry>()

  constructor(accounts: readonly string[], most: number) {
    this.accounts = accounts
    this.#most = most
  }

  get orders(): readonly Order[] {
    return Array.from(this.#entries.values(), ({ order }) => order)
  }

  /** Those of which nobody has said what came of them. */
  get open(): readonly Order[] {
    return [...this.#entries.values()]
      .filter(({ outcome }) => outcome === undefined)
      .map(({ order }) => order)
  }

  order(id: string): Order | undefined {
    return this.#entries.get(id)?.order
  }

  /** A new order, or one that somebody else began, who may be dead, or slow, or still at it. */
  next(random: SeededRandom): Order | undefined {
    const { open } = this
    const isFull = this.#entries.size >= this.#most
    if (open.length > 0 && (isFull || random.chance(0.3))) return random.pick(open)
    return isFull ? undefined : this.#place(random)
  }

  /** Somebody gave up on it, and cannot say how far it got. */
  unknown({ id }: Order): void {
    const entry = this.#entries.get(id) as Entry
    entry.isUnknown = true
  }

  /** What a caller was answered. Every other answer has to be the same. */
  told({ id }: Order, outcome: Outcome): Tidings {
    const entry = this.#entries.get(id) as Entry
    const isFirst = entry.outcome === undefined
    entry.outcome ??= outcome
    return { isFirst, clearsUp: isFirst && entry.isUnknown, agrees: entry.outcome === outcome }
  }

  #place(random: SeededRandom): Order {
    const from = random.pick(this.accounts)
    const to = random.pick(this.accounts.filter((account) => account !== from))
    const id = `t${this.#entries.size + 1}`
    const order = { id, from, to, amount: 1 + random.below(Math.ceil(OPENING_BALANCE * 0.7)) }
    this.#entries.set(id, { order, outcome: undefined, isUnknown: false })
    return order
  }
}

/**
 * Whether it is the first news of an order, whether nobody knew before, and whether it is what others were
 * told.
 */
export interface Tidings {
  readonly isFirst: boolean
  readonly clearsUp: boolean
  readonly agrees: boolean
}

interface Entry {
  readonly order: Order
  outcome: Outcome | undefined
  isUnknown: boolean
}

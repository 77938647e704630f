import type { Delivery } from "../../src/index.js"
import type { Wrote } from "../cluster/events.js"
import type { AccountInput, AccountOutput } from "./account-model.js"
import type { Order, Outcome } from "./transfer.js"

/** What happens, as far as invariants care. Ids are `type/key`. */
export type BankEvent = Asked | Answered | Failed | Told | Wrote

/** An account is about to be called. */
export interface Asked {
  readonly kind: "asked"
  readonly op: number
  /** The system that the call is made on. */
  readonly by: string
  readonly account: string
  readonly input: AccountInput
}

export interface Answered {
  readonly kind: "answered"
  readonly op: number
  readonly output: AccountOutput
}

export interface Failed {
  readonly kind: "failed"
  readonly op: number
  readonly delivery: Delivery
}

/** A client was told the outcome of a transfer. */
export interface Told {
  readonly kind: "told"
  readonly order: Order
  readonly outcome: Outcome
}

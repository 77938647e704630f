import type { Delivery } from "../../src/index.js"
import type { CallLeft, Maker } from "../call-makers.js"
import type { Decided } from "./account.js"
import type { AccountInput, AccountOutput } from "./account-model.js"
import type { Order, Outcome, Progress } from "./transfer.js"

/** What happens, as far as invariants care. Ids are `type/key`. */
export type BankEvent =
  | Asked
  | Answered
  | Failed
  | Told
  | TurnBegan
  | CallLeft
  | AccountWritten
  | TransferWritten

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

/** A client was told what became of a transfer. */
export interface Told {
  readonly kind: "told"
  readonly order: Order
  readonly outcome: Outcome
}

/** A turn of an account or a transfer begins. */
export interface TurnBegan {
  readonly kind: "turn"
  readonly id: string
  readonly generation: number
  /** The activation that made the call, if it is one of the same system. */
  readonly nearMaker?: Maker | undefined
}

/** The state of an account was committed. */
export interface AccountWritten extends Written {
  readonly kind: "account-written"
  readonly account: string
  readonly balance: number
  readonly decided: readonly Decided[]
}

/** The state of a transfer was committed. */
export interface TransferWritten extends Written {
  readonly kind: "transfer-written"
  readonly order: Order
  readonly progress: Progress
}

interface Written {
  readonly id: string
  readonly generation: number
  /** That of the placement, as the store has it in that moment; undefined if it has none. */
  readonly placedAt: number | undefined
}

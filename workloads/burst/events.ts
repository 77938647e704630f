/** What happens, as far as invariants care. Ids are `type/key`. */
export type BurstEvent = TurnBegan | Acked | Called

export interface TurnBegan {
  readonly kind: "turn"
  readonly id: string
  readonly generation: number
  /** How often the item was kept, as far as this activation knows. */
  readonly kept: number
}

/** A save was said to have been made. */
export interface Acked {
  readonly kind: "acked"
  readonly id: string
  readonly kept: number
}

/** A call has ended. */
export interface Called {
  readonly kind: "called"
  readonly id: string
  /** Undefined where it was answered. */
  readonly failure: string | undefined
}

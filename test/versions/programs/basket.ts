/** The classes of two versions of a program, with baskets that have a placement of their own or are in shards. */
import { Actor, type RegisteredActor, sharded } from "../../../src/index.js"

/** What a basket answers: which version ran the call. */
export interface Added {
  readonly version: 1 | 2
  readonly items: number
}

/** `marks` counts the calls that version 2 ran; version 1 does not know it. */
export interface Sums {
  readonly items: number
  readonly marks: number
}

const methods = { add: { once: true } }
const placement = sharded({ shards: 32 })

interface OldState {
  items: number
}

class OldBasket extends Actor<OldState> {
  static readonly type: string = "Basket"
  static readonly stateVersion = 1
  static readonly methods = methods

  protected override initialState(): OldState {
    return { items: 0 }
  }

  add(): Added {
    this.state.items += 1
    return { version: 1, items: this.state.items }
  }
}

class OldBatch extends OldBasket {
  static override readonly type = "Batch"
  static readonly placement = placement
}

interface State {
  count: { items: number; marks: number }
}

export class Basket extends Actor<State> {
  static readonly type: string = "Basket"
  static readonly stateVersion = 2
  static readonly methods = methods

  protected override initialState(): State {
    return { count: { items: 0, marks: 0 } }
  }

  /** A state that version 2 has downgraded has marks. */
  protected override upgradeState(old: unknown): State {
    const { items, marks = 0 } = old as OldState & { marks?: number }
    return { count: { items, marks } }
  }

  add(): Added {
    const { count } = this.state
    count.items += 1
    count.marks += 1
    return { version: 2, items: count.items }
  }

  sums(): Sums {
    return { ...this.state.count }
  }
}

class Batch extends Basket {
  static override readonly type = "Batch"
  static readonly placement = placement
}

class ReversibleBasket extends Basket {
  static readonly writeVersion: number = 1

  /** Keeps the field that version 1 does not know, and saves with the rest. */
  protected override downgradeState({ count }: State) {
    return { ...count }
  }
}

class ReversibleBatch extends ReversibleBasket {
  static override readonly type = "Batch"
  static readonly placement = placement
}

/** The classes of each rollout: `2 as 1` is version 2, which writes version 1. */
export const CODE = {
  1: [OldBasket, OldBatch],
  "2 as 1": [ReversibleBasket, ReversibleBatch],
  2: [Basket, Batch],
} as const satisfies Record<string, readonly RegisteredActor[]>

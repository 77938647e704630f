import { Actor } from "../../src/index.js"
import type { NodeTap } from "../cluster/node-tap.js"

export interface ItemState {
  /** How often it was kept. */
  kept: number
  /** Nothing but its size. */
  padding: string
}

/** What a caller sees of an item. */
export interface Seen {
  readonly generation: number
  /** How often it was called since it was activated: that is in memory alone. */
  readonly calls: number
  readonly kept: number
}

/** Small in memory, and as large as it is told to be in the store. */
export function itemOn(tap: NodeTap) {
  return class Item extends Actor<ItemState> {
    static readonly type = "Item"
    #calls = 0

    protected override initialState(): ItemState {
      return { kept: 0, padding: "" }
    }

    touch(): Seen {
      return this.#began()
    }

    async keep(kib: number): Promise<Seen> {
      const { generation, calls } = this.#began()
      this.state.kept += 1
      this.state.padding = "x".repeat(kib * 1_024)
      const { kept } = this.state
      await this.save()
      tap.life.record({ kind: "acked", id: this.#id, kept })
      return { generation, calls, kept }
    }

    #began(): Seen {
      const { kept } = this.state
      tap.life.record({ kind: "turn", id: this.#id, generation: this.fencingToken, kept })
      tap.passed({ what: "turn", id: this.#id, generation: this.fencingToken })
      this.#calls += 1
      return { generation: this.fencingToken, calls: this.#calls, kept }
    }

    get #id(): string {
      return `Item/${this.key}`
    }
  }
}

export type Item = InstanceType<ReturnType<typeof itemOn>>

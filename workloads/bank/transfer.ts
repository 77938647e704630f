import { Actor } from "../../src/index.js"
import { markOf } from "../cluster/call-makers.js"
import type { NodeTap } from "../cluster/node-tap.js"
import { AccountCalls } from "./account-calls.js"

/** So much, from one account to another, once. */
export interface Order {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly amount: number
}

export type Outcome = "done" | "refused"
export type Progress = "begun" | "withdrawn" | Outcome

export interface TransferState {
  order: Order | null
  progress: Progress
}

/**
 * An order that carries itself out. It remembers how far it has got, and goes on from there when it is called
 * again: whatever it had not remembered by then is asked of the accounts a second time, and they know its id.
 */
export function transferOn(tap: NodeTap) {
  return class Transfer extends Actor<TransferState> {
    static readonly type = "Transfer"

    protected override initialState(): TransferState {
      return { order: null, progress: "begun" }
    }

    async carryOut(order: Order): Promise<Outcome> {
      const maker = { id: `Transfer/${this.key}`, generation: this.fencingToken }
      tap.life.record({ kind: "turn", ...maker })
      tap.passed({ what: "turn", ...maker })
      if (this.state.order === null) {
        this.state.order = order
        await this.save()
      }
      const accounts = new AccountCalls(tap, {
        handleOf: (key) => this.actor("BankAccount", key),
        signature: { maker, by: tap.name, mark: markOf(maker) },
      })
      if (this.state.progress === "begun") {
        const { accepted } = await accounts.withdraw(order)
        await this.#reach(accepted ? "withdrawn" : "refused")
      }
      if (this.state.progress === "withdrawn") {
        await accounts.deposit(order)
        await this.#reach("done")
      }
      return this.state.progress === "done" ? "done" : "refused"
    }

    #reach(progress: Progress): Promise<void> {
      this.state.progress = progress
      return this.save()
    }
  }
}

export type Transfer = InstanceType<ReturnType<typeof transferOn>>

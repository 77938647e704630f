import type { Maker } from "../cluster/call-makers.js"
import type { NodeTap } from "../cluster/node-tap.js"
import { BankAccount, type Receipt, type Slip, type Statement } from "./bank-account.js"

/** The decision about a slip, as a caller sees it; `isRepeat`: it was made for an earlier attempt. */
export interface SeenReceipt extends Receipt {
  readonly isRepeat: boolean
}

export interface AccountRules {
  /** An account recognizes a slip that it has decided. If not, the workload must find out. */
  readonly recognizesSlips: boolean
}

/** The maker of a call that an actor makes, its system, and a mark among the bytes that leave. */
export interface Signature {
  readonly maker: Maker
  readonly by: string
  readonly mark: string
}

/** An account with its turns on record. Each order is a teller of its own, with one slip. */
export function accountOn(tap: NodeTap, { recognizesSlips }: AccountRules) {
  return class Account extends BankAccount {
    override withdraw(slip: Slip, signed?: Signature): Promise<SeenReceipt> {
      return this.#decide(slip, signed, (known) => super.withdraw(known))
    }

    override deposit(slip: Slip, signed?: Signature): Promise<SeenReceipt> {
      return this.#decide(slip, signed, (known) => super.deposit(known))
    }

    override statement(): Statement {
      this.#began()
      return super.statement()
    }

    async #decide(
      slip: Slip,
      signed: Signature | undefined,
      decide: (slip: Slip) => Promise<Receipt>,
    ): Promise<SeenReceipt> {
      this.#began(signed)
      const decided = this.state.tellers[slip.teller]
      const number = decided === undefined || recognizesSlips ? slip.number : decided.number + 1
      const receipt = await decide({ ...slip, number })
      return { ...receipt, isRepeat: recognizesSlips && decided !== undefined }
    }

    #began(signed?: Signature): void {
      const [id, generation] = [`BankAccount/${this.key}`, this.fencingToken]
      const isNear = signed?.by === tap.name
      tap.life.record({ kind: "turn", id, generation, maker: signed?.maker, isNear })
      tap.passed({ what: "turn", id, generation })
    }
  }
}

export type Account = InstanceType<ReturnType<typeof accountOn>>

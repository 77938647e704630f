import { Actor } from "../../src/index.js"
import type { Maker } from "../cluster/call-makers.js"
import type { NodeTap } from "../cluster/node-tap.js"

/** An id, and by how much the balance changed for it: not at all where it was refused. */
export type Decided = readonly [id: string, amount: number]

export interface AccountState {
  balance: number
  /** In the order in which it was decided. */
  decided: Decided[]
}

/** What came of a withdrawal or a deposit, and the balance by then. */
export interface Receipt {
  readonly kind: "done" | "refused"
  readonly balance: number
  /** It had been decided before. */
  readonly isRepeat: boolean
}

export interface AccountRules {
  /** What was decided for an id is not decided again. If not, the workload has to notice. */
  readonly remembersIds: boolean
}

/** Of a call that an actor makes: who it is, on which system, and a mark among the bytes that leave. */
export interface Signature {
  readonly maker: Maker
  readonly by: string
  readonly mark: string
}

/** What every account has to begin with. */
export const OPENING_BALANCE = 100

/**
 * An account decides once about each id and remembers what it decided, so that who was not answered can ask again. That includes
 * refusals: a withdrawal that times out may still run, long after a second one of its id was told that there was too little.
 */
export function accountOn(tap: NodeTap, { remembersIds }: AccountRules) {
  return class Account extends Actor<AccountState> {
    static readonly type = "Account"
    static readonly methods = { balance: { readOnly: true } }

    protected override initialState(): AccountState {
      return { balance: OPENING_BALANCE, decided: [] }
    }

    withdraw(id: string, amount: number, signed?: Signature): Promise<Receipt> {
      this.#began(signed)
      return this.#decide(id, this.state.balance < amount ? 0 : -amount)
    }

    deposit(id: string, amount: number, signed?: Signature): Promise<Receipt> {
      this.#began(signed)
      return this.#decide(id, amount)
    }

    balance(): number {
      this.#began()
      return this.state.balance
    }

    async #decide(id: string, change: number): Promise<Receipt> {
      const before = remembersIds ? this.state.decided.find(([known]) => known === id) : undefined
      if (before === undefined) {
        this.state.balance += change
        this.state.decided.push([id, change])
        await this.save()
      }
      const [, amount] = before ?? [id, change]
      const kind = amount === 0 ? "refused" : "done"
      return { kind, balance: this.state.balance, isRepeat: before !== undefined }
    }

    #began(signed?: Signature): void {
      const [id, generation] = [`Account/${this.key}`, this.fencingToken]
      const isNear = signed?.by === tap.name
      tap.life.record({ kind: "turn", id, generation, maker: signed?.maker, isNear })
      tap.passed({ what: "turn", id, generation })
    }
  }
}

export type Account = InstanceType<ReturnType<typeof accountOn>>

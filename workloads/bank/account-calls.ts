import { type ActorHandle, CallError, type Delivery, withOptions } from "../../src/index.js"
import type { Life } from "../../src/sim/index.js"
import type { NodeTap } from "../cluster/node-tap.js"
import type { Account, SeenReceipt, Signature } from "./account.js"
import type { AccountInput, AccountOutput } from "./account-model.js"
import type { Order } from "./transfer.js"

/** Calls to accounts, each on record: what was asked, and what was seen of it. */
export class AccountCalls {
  readonly #tap: NodeTap
  readonly #options: AccountCallsOptions

  constructor(tap: NodeTap, options: AccountCallsOptions) {
    this.#tap = tap
    this.#options = options
  }

  withdraw(order: Order): Promise<SeenReceipt> {
    return this.#decided("withdraw", order.from, order)
  }

  deposit(order: Order): Promise<SeenReceipt> {
    return this.#decided("deposit", order.to, order)
  }

  balance(account: string): Promise<number> {
    return this.#recorded(
      account,
      { kind: "balance" },
      async (handle) => (await handle.statement()).balance,
      (balance) => ({ kind: "balance", balance, isRepeat: false }),
    )
  }

  #decided(kind: "withdraw" | "deposit", account: string, { id, amount }: Order): Promise<SeenReceipt> {
    const slip = { teller: id, number: 1, amount }
    return this.#recorded(
      account,
      { kind, id, amount },
      (handle) => handle[kind](slip, this.#options.signature),
      ({ accepted, balance, isRepeat }) => ({ kind: accepted ? "done" : "refused", balance, isRepeat }),
    )
  }

  async #recorded<T>(
    account: string,
    input: AccountInput,
    call: (handle: ActorHandle<Account>) => Promise<T>,
    outputOf: (answer: T) => AccountOutput,
  ): Promise<T> {
    const { handleOf, timeoutMs } = this.#options
    const { life, name: by, cluster } = this.#tap
    const op = cluster.nextOp()
    life.record({ kind: "asked", op, by, account, input })
    const handle = handleOf(account)
    try {
      const answer = await call(timeoutMs === undefined ? handle : withOptions(handle, { timeoutMs }))
      life.record({ kind: "answered", op, output: outputOf(answer) })
      return answer
    } catch (error) {
      life.record({ kind: "failed", op, delivery: callFailed(life, error) })
      throw error
    }
  }
}

export interface AccountCallsOptions {
  readonly handleOf: (account: string) => ActorHandle<Account>
  /** Default: that of the system. */
  readonly timeoutMs?: number | undefined
  /** Of the actor that makes them, if one does. */
  readonly signature?: Signature
}

/** A call has failed, which it may do only as calls do. */
export function callFailed(life: Life, error: unknown): Delivery {
  const { code } = error as { readonly code?: string }
  const isExpected = error instanceof CallError && !WRONG.has(code ?? "")
  life.always("calls fail only for what is wrong with their way", isExpected, () => String(error))
  life.sometimes(`a call fails: ${code}`)
  return deliveryOf(error)
}

export function deliveryOf(error: unknown): Delivery {
  return error instanceof CallError ? error.delivery : "unknown"
}

/** These say that the call itself is wrong, and it never is. */
const WRONG = new Set(["CallCycle", "UnknownMethod", "InvalidMessage"])

import { checkLinearizable, History, type OperationId, type Stage } from "../../src/sim/index.js"
import { type AccountInput, type AccountOutput, accountModel } from "./account-model.js"
import type { Answered, Asked, BankEvent, Failed } from "./events.js"

/**
 * What callers saw of the accounts, which has to be linearizable for each.
 *
 * An answer that follows from a save is right whatever clocks do. One that is read from memory is right as
 * long as they keep their bound, which a wall clock that is set back can break for a machine that was
 * suspended. Where both may happen, what was read is not held against anybody.
 */
export class AccountHistory {
  readonly #stage: Stage
  readonly #history: History<AccountInput, AccountOutput>
  readonly #operations = new Map<number, OperationId>()
  readonly #trustsReads: boolean

  constructor(stage: Stage) {
    this.#stage = stage
    this.#history = new History(() => stage.nowMs)
    this.#trustsReads = stage.faults.suspend === 0 || stage.faults["clock-jump"] === 0
    stage.invariant<BankEvent>("a call ends once", (event) => {
      if (event.kind === "asked") this.#asked(event)
      return event.kind === "answered" || event.kind === "failed" ? this.#ended(event) : false
    })
  }

  judge(): void {
    const verdict = checkLinearizable(this.#history, accountModel)
    this.#stage.always(
      "what callers see of an account is linearizable",
      verdict.kind === "linearizable",
      () => (verdict.kind === "violation" ? verdict.explanation.join("\n") : verdict.kind),
    )
  }

  #asked({ op, by, account, input }: Asked): void {
    this.#operations.set(op, this.#history.invoke(by, account, input))
  }

  #ended(event: Answered | Failed): string | undefined {
    const operation = this.#operations.get(event.op)
    if (operation === undefined) return `${event.op} ends, and was not asked, or has ended before`
    this.#operations.delete(event.op)
    if (event.kind === "answered") this.#answered(operation, event.output)
    else if (event.delivery === "not-delivered") this.#history.fail(operation)
    else this.#history.unknown(operation)
    return undefined
  }

  #answered(operation: OperationId, output: AccountOutput): void {
    const isRead = output.kind === "balance" || output.isRepeat
    if (this.#trustsReads || !isRead) this.#history.ok(operation, output)
    else if (output.kind === "balance") this.#history.fail(operation)
    else this.#history.ok(operation, { ...output, balance: undefined })
  }
}

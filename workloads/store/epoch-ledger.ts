import { checkLinearizable, type Model, type Operation, type Verdict } from "../../src/sim/index.js"

/**
 * What clients asked of the keys of a store and what they saw, epoch by epoch.
 *
 * Where history is cut, what was acknowledged may never have been, and no order explains both halves. So each
 * epoch is a history of its own, which begins with what the cut left. An operation belongs to the epoch that
 * it was made for; a read, which is made for none, to the one that answered it.
 */
export class EpochLedger<State, Input, Output> {
  readonly #model: Model<State, Input, Output>
  readonly #operations: OpenOperation<Input, Output>[] = []
  #moments = 0

  constructor(model: Model<State, Input, Output>) {
    this.#model = model
  }

  /** Without an answer it stays unknown, or counts for nothing if its epoch is unknown too. */
  call(client: string, key: string, input: Input, epoch?: string): OpenOperation<Input, Output> {
    const operation = { client, key, input, epoch, called: this.#moment(), outcome: undefined }
    this.#operations.push(operation)
    return operation
  }

  ok(operation: OpenOperation<Input, Output>, output: Output, epoch = operation.epoch): void {
    operation.epoch = epoch
    operation.outcome = { kind: "ok", output, returned: this.#moment() }
  }

  /** It is known not to have happened. */
  fail(operation: OpenOperation<Input, Output>): void {
    operation.outcome = { kind: "fail" }
  }

  judge(): Verdict<Input, Output> {
    const operations = this.#operations
      .filter(({ epoch }) => epoch !== undefined)
      .map(({ client, key, input, epoch, called, outcome }, id): Operation<Input, Output> => {
        const known = outcome ?? { kind: "unknown" }
        return { id, client, key: `${key} in ${epoch}`, input, called, outcome: known }
      })
    return checkLinearizable({ operations }, this.#model)
  }

  get unknown(): number {
    return this.#operations.filter(({ epoch, outcome }) => epoch !== undefined && outcome === undefined)
      .length
  }

  #moment(): { readonly order: number; readonly time: number } {
    this.#moments += 1
    return { order: this.#moments, time: this.#moments }
  }
}

export interface OpenOperation<Input, Output> {
  readonly client: string
  readonly key: string
  readonly input: Input
  readonly called: { readonly order: number; readonly time: number }
  epoch: string | undefined
  outcome: Operation<Input, Output>["outcome"] | undefined
}

/**
 * The operations that clients have asked for, each of which is one intent, however many attempts it took. What
 * precedes what goes by the order in which it was logged, as in a `History`.
 */
export class OperationLog<Input, Output> {
  readonly #letter: string
  readonly #now: () => number
  readonly #operations: LoggedOperation<Input, Output>[] = []
  #moments = 0

  /** `letter` is what the names of operations begin with. */
  constructor(letter: string, now: () => number) {
    this.#letter = letter
    this.#now = now
  }

  get operations(): readonly LoggedOperation<Input, Output>[] {
    return this.#operations
  }

  begun({ client, key, input, isNamed }: Wanted<Input>): LoggedOperation<Input, Output> {
    const operation: LoggedOperation<Input, Output> = {
      id: `${this.#letter}${this.#operations.length + 1}`,
      client,
      key,
      input,
      isNamed,
      called: this.#moment(),
      attempts: 0,
      text: undefined,
      answers: [],
      ending: "open",
    }
    this.#operations.push(operation)
    return operation
  }

  answered(operation: LoggedOperation<Input, Output>, output: Output): void {
    operation.ending = "acknowledged"
    operation.answers.push({ output, returned: this.#moment() })
  }

  #moment(): Moment {
    this.#moments += 1
    return { order: this.#moments, atMs: Math.round(this.#now()) }
  }
}

export interface Wanted<Input> {
  /** Who wants it. */
  readonly client: string
  /** The actor that it is wanted of. */
  readonly key: string
  readonly input: Input
  /** Whether the client names it, or leaves that to the runtime. */
  readonly isNamed: boolean
}

export interface LoggedOperation<Input, Output> extends Wanted<Input> {
  /** The name under which the actor writes it down. */
  readonly id: string
  readonly called: Moment
  /** The number of calls that its client has made for it until it was answered. */
  attempts: number
  /** By which it can be attempted again, as an error has named it. */
  text: string | undefined
  /** All of them, in their order. */
  readonly answers: { readonly output: Output; readonly returned: Moment }[]
  ending: Ending
}

/**
 * `refused`: the client was told that it did not happen. `abandoned`: the client has given it up, and it may
 * have happened.
 */
export type Ending = "open" | "acknowledged" | "refused" | "abandoned"

export interface Moment {
  readonly order: number
  readonly atMs: number
}

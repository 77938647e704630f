/**
 * The requests of clients and the answers that they saw, in the order in which they were recorded.
 *
 * Checkers use this order: an operation precedes another if its answer was recorded before the other's call.
 * The times of `now` are only labels, to find the moments in a trace; in a simulated world many events happen
 * at one instant.
 */
export class History<Input, Output> {
  readonly #now: (() => number) | undefined
  readonly #operations: Operation<Input, Output>[] = []
  readonly #open = new Set<OperationId>()
  #moments = 0
  #latest = Number.NEGATIVE_INFINITY

  /** Without `now`, the time of a moment is its position in the order. */
  constructor(now?: () => number) {
    this.#now = now
  }

  /** The operations in the order of their calls. Operations without an answer have an unknown outcome. */
  get operations(): readonly Operation<Input, Output>[] {
    return [...this.#operations]
  }

  /** Records that a client has called an operation, and returns its id. */
  invoke(client: string, key: string, input: Input): OperationId {
    const id = this.#operations.length
    this.#operations.push({ id, client, key, input, called: this.#moment(), outcome: { kind: "unknown" } })
    this.#open.add(id)
    return id
  }

  /** Records the answer of an operation. */
  ok(id: OperationId, output: Output): void {
    this.#end(id, { kind: "ok", output, returned: this.#moment() })
  }

  /** Records that the operation is known not to have happened. */
  fail(id: OperationId): void {
    this.#end(id, { kind: "fail" })
  }

  /** Records that the operation may have happened, may still happen, or may never happen. */
  unknown(id: OperationId): void {
    this.#end(id, { kind: "unknown" })
  }

  #end(id: OperationId, outcome: Outcome<Output>): void {
    const operation = this.#operations[id]
    if (operation === undefined) throw new RangeError(`there is no operation ${id}`)
    if (!this.#open.delete(id)) throw new Error(`operation ${id} has already ended`)
    this.#operations[id] = { ...operation, outcome }
  }

  #moment(): Moment {
    const order = this.#moments
    const time = this.#now?.() ?? order
    if (!(time >= this.#latest)) throw new RangeError(`time went from ${this.#latest} to ${time}`)
    this.#moments += 1
    this.#latest = time
    return { order, time }
  }
}

/**
 * Returns the operations as they were known right after the moment with that order: outcomes with later
 * answers are unknown.
 */
export function knownAt<Input, Output>(
  operations: readonly Operation<Input, Output>[],
  order: number,
): Operation<Input, Output>[] {
  return operations
    .filter(({ called }) => called.order <= order)
    .map((operation) => {
      const { outcome } = operation
      const isLater = outcome.kind === "ok" && outcome.returned.order > order
      return isLater ? { ...operation, outcome: { kind: "unknown" } } : operation
    })
}

/** One request of a client. */
export interface Operation<Input, Output> {
  /** The id, unique in its history. */
  readonly id: OperationId
  /** The client that made the request. */
  readonly client: string
  /** The key that the operation is about. Each key is checked by itself. */
  readonly key: string
  /** The request. */
  readonly input: Input
  /** When the request was made. */
  readonly called: Moment
  /** What the client knows about the result. */
  readonly outcome: Outcome<Output>
}

/** The id of an operation in its history. */
export type OperationId = number

/** The answer, the knowledge that the operation did not happen, or neither. */
export type Outcome<Output> =
  | { readonly kind: "ok"; readonly output: Output; readonly returned: Moment }
  | { readonly kind: "fail" }
  | { readonly kind: "unknown" }

interface Moment {
  /** Unique among the moments of a history. */
  readonly order: number
  readonly time: number
}

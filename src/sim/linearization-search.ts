import { type Answered, answeredOf } from "./answered-operation.js"
import type { Operation } from "./history.js"
import { ReachedPlaces } from "./reached-places.js"
import { SearchFrontier } from "./search-frontier.js"
import type { Model } from "./sequential-model.js"

/**
 * Searches for an order of one key's operations that explains every answer.
 *
 * This is the search of Wing and Gong: from a state, apply any operation that no other operation has to
 * precede, and backtrack where an answer does not fit. As in Lowe's algorithm, visited configurations are
 * remembered: the applied operations and the state.
 *
 * Operations with an unknown outcome make the search explode, because each may be applied anywhere or not at
 * all. Four rules limit this, and none discards the last order that explains a history:
 * - Unknown operations are applied right before an answered one, and only if the last of them could not
 *   equally be applied right after it. An operation whose effect nobody observes is postponed until it is not
 *   needed.
 * - A configuration that was reached with some unknown operations is not visited again with a superset of
 *   them.
 * - Of unknown operations with equal inputs, the one called first is applied first.
 * - A model may declare what a history cannot distinguish (`focusedOn`).
 *
 * First choosing the unknown operations that happened, and then ordering all operations, would be simpler,
 * but exponential from the start.
 */
export class LinearizationSearch<State, Input, Output> {
  readonly #model: Model<State, Input, Output>
  readonly #limit: number
  readonly #answered: readonly Answered<Input, Output>[]
  /** The unknown operations, grouped by equal inputs and in the order of their calls. */
  readonly #unknown: readonly (readonly Unknown<Input, Output>[])[]
  #visited = 0
  /** The number of visited configurations at which the search stops. */
  #pause = 0

  constructor(
    operations: readonly Operation<Input, Output>[],
    model: Model<State, Input, Output>,
    limit: number,
  ) {
    this.#model = model.focusedOn?.(operations) ?? model
    this.#limit = limit
    this.#answered = answeredOf(operations)
    this.#unknown = unknownOf(operations, this.#model)
  }

  /**
   * Searches depth first, twice. The first pass takes the moves as they come, which finds an order quickly if
   * there are many. The second pass, which gets most of the budget, explores everything that is reachable
   * with few unknown operations before it tries more of them. This detects quickly that no order exists,
   * because a configuration reached with fewer unknown operations rules out those with more.
   */
  run(): Found<Input, Output> {
    const quick = this.#explore(Math.ceil(this.#limit / 10), () => 0)
    if (quick.kind !== "gave-up") return quick
    return this.#explore(this.#limit, ({ unknown }) => unknown)
  }

  #explore(
    limit: number,
    levelOf: (configuration: Configuration<State, Input, Output>) => number,
  ): Found<Input, Output> {
    this.#pause = limit
    let best: Configuration<State, Input, Output> = { ...NOTHING_DONE, state: this.#model.init }
    const reached = new ReachedPlaces()
    const frontier = new SearchFrontier(levelOf)
    frontier.push(this.#moves(best))
    while (best.answered < this.#answered.length) {
      const next = frontier.next()
      if (this.#visited >= limit) return this.#found("gave-up", best)
      if (next === undefined) return this.#found("violation", best)
      this.#visited += 1
      const place = `${next.base} ${next.ahead.toString(36)} ${this.#model.stateText(next.state)}`
      if (!reached.add(place, next.taken)) continue
      if (next.answered > best.answered) best = next
      frontier.push(this.#moves(next))
    }
    return this.#found("linearizable", best)
  }

  #found(kind: Found<Input, Output>["kind"], best: Configuration<State, Input, Output>) {
    const order: Operation<Input, Output>[] = []
    for (let path = best.path; path !== undefined; path = path.before) order.push(path.operation)
    return { kind, visited: this.#visited, order: order.reverse() }
  }

  *#moves(
    from: Configuration<State, Input, Output>,
  ): Generator<Configuration<State, Input, Output>, undefined> {
    const ready = this.#ready(from)
    for (const one of ready) {
      if (!this.#model.observesOnly(one.operation.input, one.output)) continue
      const next = this.#done(from, one)
      if (next === undefined) continue
      // The operation fits here and changes no state, so applying it later cannot be easier.
      yield next
      return
    }
    for (const between of this.#withUnknown(from, ready[0]?.returned ?? 0)) {
      for (const one of ready) {
        const next = this.#done(between, one)
        if (next !== undefined && !this.#canWait(between, one, next)) yield next
      }
    }
  }

  /**
   * Returns the operations that may be next: those called before any other one was answered. The one that was
   * answered first comes first.
   */
  #ready({ base, ahead }: Configuration<State, Input, Output>): Answered<Input, Output>[] {
    const ready: Answered<Input, Output>[] = []
    let deadline = Number.POSITIVE_INFINITY
    let isDone = ahead
    for (let index = base; index < this.#answered.length; index++, isDone >>= 1n) {
      const one = this.#answered[index] as Answered<Input, Output>
      if (one.called > deadline) break
      if ((isDone & 1n) === 1n) continue
      ready.push(one)
      deadline = Math.min(deadline, one.returned)
    }
    return ready.sort((a, b) => a.returned - b.returned)
  }

  /**
   * Yields the configurations that are reachable with unknown operations alone: with none first, then with
   * one, then with two.
   */
  *#withUnknown(from: Configuration<State, Input, Output>, deadline: number) {
    const reached = new ReachedPlaces()
    reached.add(this.#model.stateText(from.state), from.taken)
    const queue = [from]
    for (const before of queue) {
      if (this.#visited >= this.#pause) return
      yield before
      for (const alike of this.#unknown) {
        const next = alike.find(({ bit }) => (before.taken & bit) === 0n)
        if (next === undefined || next.operation.called.order > deadline) continue
        this.#visited += 1
        const { input } = next.operation
        const { state } = this.#model.step(before.state, input)
        const taken = before.taken | next.bit
        if (!reached.add(this.#model.stateText(state), taken)) continue
        const path = { operation: next.operation, before: before.path }
        queue.push({ ...before, taken, unknown: before.unknown + 1, state, path, unseen: { before, input } })
      }
    }
  }

  /** Returns undefined if the answer does not fit. */
  #done(
    before: Configuration<State, Input, Output>,
    one: Answered<Input, Output>,
  ): Configuration<State, Input, Output> | undefined {
    const { state, output } = this.#model.step(before.state, one.operation.input)
    if (!this.#model.matches(one.output, output)) return undefined
    let { base } = before
    let ahead = before.ahead | (1n << BigInt(one.index - base))
    for (; (ahead & 1n) === 1n; ahead >>= 1n) base += 1
    const path = { operation: one.operation, before: before.path }
    return {
      base,
      ahead,
      taken: before.taken,
      unknown: before.unknown,
      state,
      answered: before.answered + 1,
      path,
    }
  }

  /** Whether the unknown operation before `one` could be applied after it with the same result. */
  #canWait(
    { unseen }: Configuration<State, Input, Output>,
    one: Answered<Input, Output>,
    end: Configuration<State, Input, Output>,
  ): boolean {
    if (unseen === undefined) return false
    const sooner = this.#model.step(unseen.before.state, one.operation.input)
    if (!this.#model.matches(one.output, sooner.output)) return false
    const { state } = this.#model.step(sooner.state, unseen.input)
    return this.#model.stateText(state) === this.#model.stateText(end.state)
  }
}

interface Found<Input, Output> {
  readonly kind: "linearizable" | "violation" | "gave-up"
  readonly visited: number
  /** The longest order that was found. */
  readonly order: readonly Operation<Input, Output>[]
}

/**
 * Answered operations are numbered in the order of their calls: all before `base` are applied, and some after
 * it.
 */
interface Configuration<State, Input, Output> {
  readonly base: number
  /** The applied operations from `base` on; the lowest bit, for `base` itself, is never set. */
  readonly ahead: bigint
  /** The applied unknown operations, and their number. */
  readonly taken: bigint
  readonly unknown: number
  readonly state: State
  readonly answered: number
  readonly path: Path<Input, Output> | undefined
  /** The unknown operation that was applied last, if no answered one was applied since. */
  readonly unseen?: { readonly before: Configuration<State, Input, Output>; readonly input: Input }
}

const NOTHING_DONE = { base: 0, ahead: 0n, taken: 0n, unknown: 0, answered: 0, path: undefined }

interface Path<Input, Output> {
  readonly operation: Operation<Input, Output>
  readonly before: Path<Input, Output> | undefined
}

interface Unknown<Input, Output> {
  readonly operation: Operation<Input, Output>
  readonly bit: bigint
}

function unknownOf<Input, Output>(
  operations: readonly Operation<Input, Output>[],
  model: Model<unknown, Input, Output>,
): Unknown<Input, Output>[][] {
  const alike = new Map<string, Unknown<Input, Output>[]>()
  const unknown = operations.filter(
    ({ input, outcome }) => outcome.kind === "unknown" && !model.observesOnly(input, undefined),
  )
  for (const [index, operation] of unknown.sort((a, b) => a.called.order - b.called.order).entries()) {
    const text = model.inputText(operation.input)
    const group = alike.get(text) ?? []
    group.push({ operation, bit: 1n << BigInt(index) })
    alike.set(text, group)
  }
  return [...alike.values()]
}

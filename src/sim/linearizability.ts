import { type History, knownAt, type Operation } from "./history.js"

/**
 * Whether what clients saw can be explained by doing their operations one at a time, each at some instant between its
 * call and its answer. Keys do not know of each other, so each is checked alone.
 *
 * The search is that of Wing and Gong: from a state, do any operation that no other one had to come before, and go back
 * where an answer does not fit. It remembers, as Lowe does, where it has been: the operations done and the state.
 *
 * Operations of unknown outcome make it explode, for each may be done anywhere or not at all. Four rules keep them down,
 * and none loses the last order that explains a history:
 * - They are done right before an operation with an answer, and not if the last of them could as well be done right
 *   after it. What nobody sees is put off until it need not be done.
 * - A place that was reached with some of them is not looked at again with these and more.
 * - Of those with equal inputs, the one called first is done first.
 * - A model may say what a history cannot tell apart (`focusedOn`).
 *
 * To choose which of them happened, and then to order what did, would be simpler, and exponential from the start. The
 * problem stays hard, so there is a limit, and reaching it is an answer of its own.
 */
export function checkLinearizable<State, Input, Output>(
  history: Pick<History<Input, Output>, "operations">,
  model: Model<State, Input, Output>,
  options: CheckOptions = {},
): Verdict<Input, Output> {
  const maxConfigurations = options.maxConfigurations ?? 500_000
  if (!(maxConfigurations >= 1)) {
    throw new RangeError(`maxConfigurations is a number from 1, not ${maxConfigurations}`)
  }
  const { operations } = history
  const keys = new Set(operations.map(({ key }) => key))
  let gaveUp: Verdict<Input, Output> | undefined
  for (const key of keys) {
    const ofKey = operations.filter((operation) => operation.key === key)
    const { kind, visited } = new Search(ofKey, model, maxConfigurations).run()
    if (kind === "violation") return explain(ofKey, model, maxConfigurations)
    if (kind === "gave-up") gaveUp ??= { kind, key, configurations: visited, operations: ofKey }
  }
  return gaveUp ?? { kind: "linearizable", keys: keys.size, operations: operations.length }
}

/** What a key does when its operations come one at a time. */
export interface Model<State, Input, Output> {
  readonly init: State
  step(state: State, input: Input): { readonly state: State; readonly output: Output }
  /** Whether a client can have seen `seen` where the model gives `given`. It may say less, or nothing at all. */
  matches(seen: Output, given: Output): boolean
  /** Whether it changes no state, wherever it is done with that answer; `seen` is undefined if there was none. */
  observesOnly(input: Input, seen: Output | undefined): boolean
  /** Equal texts mean equal states. */
  stateText(state: State): string
  /** Equal texts mean inputs that do the same. */
  inputText(input: Input): string
  outputText(output: Output): string
  /** A model whose texts may also be equal for what none of these operations can tell apart, now or later. */
  focusedOn?(operations: readonly Operation<Input, Output>[]): Model<State, Input, Output>
}

export interface CheckOptions {
  /** How many configurations are looked at for a key before the check gives up; 500,000 unless set. */
  readonly maxConfigurations?: number
}

export type Verdict<Input, Output> =
  | { readonly kind: "linearizable"; readonly keys: number; readonly operations: number }
  | {
      readonly kind: "violation"
      readonly key: string
      /** Lines for people. */
      readonly explanation: readonly string[]
      /** The longest order that was found, and last the operation that does not fit. */
      readonly operations: readonly Operation<Input, Output>[]
    }
  | {
      readonly kind: "gave-up"
      readonly key: string
      readonly configurations: number
      readonly operations: readonly Operation<Input, Output>[]
    }

interface Found<Input, Output> {
  readonly kind: Verdict<Input, Output>["kind"]
  readonly visited: number
  /** The longest order that was found. */
  readonly order: readonly Operation<Input, Output>[]
}

/** Answered operations are counted in the order of their calls: all before `base` are done, and some after it. */
interface Configuration<State, Input, Output> {
  readonly base: number
  /** Which ones from `base` on are done; the lowest bit, for `base` itself, is never set. */
  readonly ahead: bigint
  /** Which unknown operations are done, and how many. */
  readonly taken: bigint
  readonly unknown: number
  readonly state: State
  readonly answered: number
  readonly path: Path<Input, Output> | undefined
  /** The unknown operation that was done last, if no answered one was done since. */
  readonly unseen?: { readonly before: Configuration<State, Input, Output>; readonly input: Input }
}

const NOTHING_DONE = { base: 0, ahead: 0n, taken: 0n, unknown: 0, answered: 0, path: undefined }

interface Path<Input, Output> {
  readonly operation: Operation<Input, Output>
  readonly before: Path<Input, Output> | undefined
}

interface Answered<Input, Output> {
  readonly operation: Operation<Input, Output>
  readonly index: number
  readonly called: number
  readonly returned: number
  readonly output: Output
}

interface Unknown<Input, Output> {
  readonly operation: Operation<Input, Output>
  readonly bit: bigint
}

class Search<State, Input, Output> {
  readonly #model: Model<State, Input, Output>
  readonly #limit: number
  readonly #answered: readonly Answered<Input, Output>[]
  /** By equal inputs, and in the order of their calls. */
  readonly #unknown: readonly (readonly Unknown<Input, Output>[])[]
  #visited = 0
  /** When to stop looking, in configurations visited. */
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
   * Depth first, twice. The first time takes every move as it comes, which finds an order soon if there are many. The second
   * one, which has most of the time, does all that can be done with few unknown operations before it tries more of
   * them: that is how to see soon that there is none, for what was reached with fewer rules out the rest.
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
    const reached = new Reached()
    const frontier = new Frontier(levelOf)
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
      // It fits here and changes nothing anywhere, so doing it later could only be harder.
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

  /** The operations called before any other one had its answer may be next. The first to have its answer comes first. */
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

  /** What can be reached from here by unknown operations alone: with none first, then with one, then with two. */
  *#withUnknown(from: Configuration<State, Input, Output>, deadline: number) {
    const reached = new Reached()
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

  /** Undefined if its answer does not fit. */
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

  /** Whether the unknown operation before `one` could be done after it to the same end. */
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

function answeredOf<Input, Output>(
  operations: readonly Operation<Input, Output>[],
): Answered<Input, Output>[] {
  return operations
    .flatMap((operation) => {
      const { called, outcome } = operation
      if (outcome.kind !== "ok") return []
      return [{ operation, called: called.order, returned: outcome.returned.order, output: outcome.output }]
    })
    .sort((a, b) => a.called - b.called)
    .map((one, index) => ({ ...one, index }))
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

/** The moves that are still to be made: those of the lowest level first, and of these the ones that were found last. */
class Frontier<T> {
  readonly #levelOf: (move: T) => number
  readonly #levels: Branch<T>[][] = []
  #level = 0

  constructor(levelOf: (move: T) => number) {
    this.#levelOf = levelOf
  }

  /** Moves whose levels do not fall, and begin at the level of the move made last or above it. */
  push(moves: Iterator<T, undefined>): void {
    this.#put(this.#level, { moves, next: undefined })
  }

  next(): T | undefined {
    for (; this.#level < this.#levels.length; this.#level++) {
      const branches = this.#levels[this.#level] ?? []
      for (let branch = branches.at(-1); branch !== undefined; branch = branches.at(-1)) {
        const next = branch.next ?? branch.moves.next().value
        branch.next = undefined
        if (next !== undefined && this.#levelOf(next) <= this.#level) return next
        branches.pop()
        if (next !== undefined) this.#put(this.#levelOf(next), { moves: branch.moves, next })
      }
    }
    return undefined
  }

  #put(level: number, branch: Branch<T>): void {
    const branches = this.#levels[level] ?? []
    branches.push(branch)
    this.#levels[level] = branches
  }
}

interface Branch<T> {
  readonly moves: Iterator<T, undefined>
  /** Was taken from the moves before its time. */
  next: T | undefined
}

/** The places that were reached, and with which unknown operations done. */
class Reached {
  readonly #places = new Map<string, Set<bigint>>()

  /** False if the place was reached with these or with fewer of them. */
  add(place: string, taken: bigint): boolean {
    const known = this.#places.get(place)
    if (known === undefined) {
      this.#places.set(place, new Set([taken]))
      return true
    }
    if (known.has(taken)) return false
    let compared = 0
    for (const fewer of known) {
      if ((fewer & taken) === fewer) return false
      compared += 1
      if (compared === MOST_COMPARED) break
    }
    known.add(taken)
    return true
  }
}

/** To compare with more would cost more than it saves. */
const MOST_COMPARED = 64

/**
 * Says what is wrong with a history that was found wrong.
 *
 * What can be explained could be explained at every earlier moment too. So there is a first answer that fits no order; the
 * history up to just before it has one, and that order and that answer are what a person has to look at.
 */
function explain<State, Input, Output>(
  operations: readonly Operation<Input, Output>[],
  model: Model<State, Input, Output>,
  maxConfigurations: number,
): Verdict<Input, Output> {
  const misfit = firstMisfit(operations, model, maxConfigurations)
  const before = knownAt(operations, misfit.returned - 1)
  const { order } = new Search(before, model, maxConfigurations).run()
  const { id, key } = misfit.operation
  const originals = new Map(operations.map((operation) => [operation.id, operation]))
  return {
    kind: "violation",
    key,
    explanation: linesOf(misfit.operation, order, before, model),
    operations: [
      ...order.filter((one) => one.id !== id).map((one) => originals.get(one.id) ?? one),
      misfit.operation,
    ],
  }
}

/** Where the search gives up on the way, a later misfit than the first. */
function firstMisfit<State, Input, Output>(
  operations: readonly Operation<Input, Output>[],
  model: Model<State, Input, Output>,
  maxConfigurations: number,
): Answered<Input, Output> {
  const answered = answeredOf(operations).sort((a, b) => a.returned - b.returned)
  let left = maxConfigurations
  let low = 0
  let high = answered.length - 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const { returned } = answered[middle] as Answered<Input, Output>
    const { kind, visited } = new Search(knownAt(operations, returned), model, left).run()
    left -= visited
    if (kind === "violation") high = middle
    else low = middle + 1
  }
  return answered[high] as Answered<Input, Output>
}

function linesOf<State, Input, Output>(
  misfit: Operation<Input, Output>,
  order: readonly Operation<Input, Output>[],
  known: readonly Operation<Input, Output>[],
  model: Model<State, Input, Output>,
): string[] {
  let state = model.init
  let given: Output | undefined
  const done = order.map((operation) => {
    const after = model.step(state, operation.input)
    state = after.state
    if (operation.id === misfit.id) given = after.output
    return `${lineOf(operation, model)}  | ${model.stateText(state)}`
  })
  given ??= model.step(state, misfit.input).output
  const isIdle = ({ input, outcome }: Operation<Input, Output>) =>
    outcome.kind === "unknown" && !model.observesOnly(input, undefined)
  const idle = known.filter((one) => one.id !== misfit.id && isIdle(one) && !order.includes(one))
  return [
    `${JSON.stringify(misfit.key)} is not linearizable: an answer fits no order of what came before it.`,
    "The longest order found, and | the state after each:",
    ...(done.length > MOST_LINES ? [`  ${done.length - MOST_LINES} before these`] : []),
    ...done.slice(-MOST_LINES),
    "The answer that does not fit:",
    `${lineOf(misfit, model)}  | it would be ${model.outputText(given)}`,
    ...(idle.length > 0 ? ["Without an answer, and of no use:"] : []),
    ...idle.slice(0, MOST_LINES).map((one) => lineOf(one, model)),
    ...(idle.length > MOST_LINES ? [`  ${idle.length - MOST_LINES} more`] : []),
  ]
}

const MOST_LINES = 10

function lineOf<Input, Output>(
  { client, input, called, outcome }: Operation<Input, Output>,
  model: Model<unknown, Input, Output>,
): string {
  const until = outcome.kind === "ok" ? outcome.returned.time : ""
  const answer = outcome.kind === "ok" ? model.outputText(outcome.output) : "?"
  return `  ${`[${called.time}..${until}]`.padEnd(10)} ${client}: ${model.inputText(input)} -> ${answer}`
}

import { type Answered, answeredOf } from "./answered-operation.js"
import { knownAt, type Operation } from "./history.js"
import { LinearizationSearch } from "./linearization-search.js"
import type { Model } from "./sequential-model.js"

/**
 * Explains why a history is not linearizable.
 *
 * A history that can be explained could also be explained at every earlier moment. There is therefore a first
 * answer that fits no order, and the history up to just before it has one. That order and that answer are
 * what a person has to look at.
 */
export function explainViolation<State, Input, Output>(
  operations: readonly Operation<Input, Output>[],
  model: Model<State, Input, Output>,
  maxConfigurations: number,
): Violation<Input, Output> {
  const misfit = firstMisfit(operations, model, maxConfigurations)
  const before = knownAt(operations, misfit.returned - 1)
  const { order } = new LinearizationSearch(before, model, maxConfigurations).run()
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

export interface Violation<Input, Output> {
  readonly kind: "violation"
  readonly key: string
  /** The explanation, in lines of text. */
  readonly explanation: readonly string[]
  /** The longest order that was found, followed by the operation that does not fit. */
  readonly operations: readonly Operation<Input, Output>[]
}

/** Returns the first misfit, or a later one if the search runs out of budget. */
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
    const { kind, visited } = new LinearizationSearch(knownAt(operations, returned), model, left).run()
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
    `${JSON.stringify(misfit.key)} is not linearizable: no order of the earlier operations explains an answer.`,
    "The longest order found, and | the state after each:",
    ...(done.length > MOST_LINES ? [`  ${done.length - MOST_LINES} before these`] : []),
    ...done.slice(-MOST_LINES),
    "The answer that does not fit:",
    `${lineOf(misfit, model)}  | it would be ${model.outputText(given)}`,
    ...(idle.length > 0 ? ["Operations without an answer, which do not help:"] : []),
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

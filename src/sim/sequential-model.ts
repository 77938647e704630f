import type { Operation } from "./history.js"

/** The behavior of a key when its operations run one at a time. */
export interface Model<State, Input, Output> {
  /** The state before the first operation. */
  readonly init: State
  /** Applies an operation, and returns the next state and the answer. */
  step(state: State, input: Input): { readonly state: State; readonly output: Output }
  /**
   * Whether a client may have seen `seen` where the model returns `given`. `seen` may contain less, or
   * nothing at all.
   */
  matches(seen: Output, given: Output): boolean
  /**
   * Whether the operation changes no state, wherever it is applied with that answer; `seen` is undefined if
   * there was no answer.
   */
  observesOnly(input: Input, seen: Output | undefined): boolean
  /** Equal texts mean equal states. */
  stateText(state: State): string
  /** Equal texts mean inputs with equal effects. */
  inputText(input: Input): string
  /** Shows an answer in an explanation. */
  outputText(output: Output): string
  /**
   * Returns a model whose texts may also be equal for values that none of these operations can distinguish.
   */
  focusedOn?(operations: readonly Operation<Input, Output>[]): Model<State, Input, Output>
}

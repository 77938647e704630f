import type { Operation } from "./history.js"

/** What a key does when its operations come one at a time. */
export interface Model<State, Input, Output> {
  readonly init: State
  step(state: State, input: Input): { readonly state: State; readonly output: Output }
  /**
   * Whether a client can have seen `seen` where the model gives `given`. It may say less, or nothing at all.
   */
  matches(seen: Output, given: Output): boolean
  /**
   * Whether it changes no state, wherever it is done with that answer; `seen` is undefined if there was none.
   */
  observesOnly(input: Input, seen: Output | undefined): boolean
  /** Equal texts mean equal states. */
  stateText(state: State): string
  /** Equal texts mean inputs that do the same. */
  inputText(input: Input): string
  outputText(output: Output): string
  /** A model whose texts may also be equal for what none of these operations can tell apart, now or later. */
  focusedOn?(operations: readonly Operation<Input, Output>[]): Model<State, Input, Output>
}

import type { Model } from "./sequential-model.js"

/** An operation on a counter. */
export type CounterInput = { readonly kind: "add"; readonly amount: number } | { readonly kind: "read" }

/** The answer of a counter. */
export type CounterOutput =
  /** The value that was read, or the value after an add. */
  | { readonly kind: "value"; readonly value: number }
  /** The operation was done, but the value was not returned. */
  | { readonly kind: "ack" }

type CounterModel = Model<number, CounterInput, CounterOutput>

/** A number that can be added to and read. */
export function counter(init = 0): CounterModel {
  return {
    init,
    step: (state, input) => {
      const value = input.kind === "add" ? state + input.amount : state
      return { state: value, output: { kind: "value", value } }
    },
    matches: (seen, given) => seen.kind === "ack" || outputText(seen) === outputText(given),
    observesOnly: (input) => input.kind === "read",
    stateText: String,
    inputText: (input) => (input.kind === "add" ? `add ${input.amount}` : "read"),
    outputText,
  }
}

function outputText(output: CounterOutput): string {
  return output.kind === "value" ? String(output.value) : "ack"
}

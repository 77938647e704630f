import type { Operation } from "./history.js"
import type { Model } from "./sequential-model.js"

/** A value of a register. */
export type RegisterValue = string | number | boolean | null

/** An operation on a register. */
export type RegisterInput =
  | { readonly kind: "read" }
  | { readonly kind: "write"; readonly value: RegisterValue }
  | { readonly kind: "compare-and-set"; readonly expected: RegisterValue; readonly value: RegisterValue }

/** The answer of a register. */
export type RegisterOutput =
  | { readonly kind: "value"; readonly value: RegisterValue }
  | { readonly kind: "written" }
  | { readonly kind: "swapped" }
  /** A compare-and-set found a value other than the expected one. */
  | { readonly kind: "kept" }
  /** The operation was done, but its result was not returned. */
  | { readonly kind: "unspecified" }

type RegisterModel = Model<RegisterValue, RegisterInput, RegisterOutput>

/** One value that can be read, written, and compared and set. */
export function register(init: RegisterValue = null): RegisterModel {
  return {
    init,
    step,
    matches: (seen, given) => seen.kind === "unspecified" || outputText(seen) === outputText(given),
    observesOnly: (input, seen) => input.kind === "read" || seen?.kind === "kept",
    stateText: valueText,
    inputText: (input) => inputText(input, valueText),
    outputText,
    focusedOn(operations) {
      const told = valuesToldApart(operations)
      const text = (value: RegisterValue) => (told.has(valueText(value)) ? valueText(value) : "any other")
      return { ...this, stateText: text, inputText: (input) => inputText(input, text) }
    },
  }
}

function step(state: RegisterValue, input: RegisterInput): { state: RegisterValue; output: RegisterOutput } {
  switch (input.kind) {
    case "read":
      return { state, output: { kind: "value", value: state } }
    case "write":
      return { state: input.value, output: { kind: "written" } }
    case "compare-and-set":
      return valueText(state) === valueText(input.expected)
        ? { state: input.value, output: { kind: "swapped" } }
        : { state, output: { kind: "kept" } }
  }
}

/**
 * Returns the values that a read saw or a compare-and-set expects. No operation can distinguish the other
 * values from each other, so fifty writes of values that were never read are equivalent.
 */
function valuesToldApart(operations: readonly Operation<RegisterInput, RegisterOutput>[]): Set<string> {
  const told = new Set<string>()
  for (const { input, outcome } of operations) {
    if (input.kind === "compare-and-set") told.add(valueText(input.expected))
    if (outcome.kind === "ok" && outcome.output.kind === "value") told.add(valueText(outcome.output.value))
  }
  return told
}

function inputText(input: RegisterInput, text: (value: RegisterValue) => string): string {
  switch (input.kind) {
    case "read":
      return "read"
    case "write":
      return `write ${text(input.value)}`
    case "compare-and-set":
      return `compare-and-set ${valueText(input.expected)} to ${text(input.value)}`
  }
}

function outputText(output: RegisterOutput): string {
  return output.kind === "value" ? valueText(output.value) : output.kind
}

/** Quotes strings, so that they differ from numbers and keywords. */
function valueText(value: RegisterValue): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value)
}

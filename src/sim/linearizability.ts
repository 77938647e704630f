import type { History, Operation } from "./history.js"
import { LinearizationSearch } from "./linearization-search.js"
import type { Model } from "./sequential-model.js"
import { explainViolation, type Violation } from "./violation-explanation.js"

export type { Model } from "./sequential-model.js"

/**
 * Whether what clients saw can be explained by doing their operations one at a time, each at some instant
 * between its call and its answer. Keys do not know of each other, so each is checked alone. The problem is
 * hard, so there is a limit, and reaching it is an answer of its own.
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
    const { kind, visited } = new LinearizationSearch(ofKey, model, maxConfigurations).run()
    if (kind === "violation") return explainViolation(ofKey, model, maxConfigurations)
    if (kind === "gave-up") gaveUp ??= { kind, key, configurations: visited, operations: ofKey }
  }
  return gaveUp ?? { kind: "linearizable", keys: keys.size, operations: operations.length }
}

export interface CheckOptions {
  /** How many configurations are looked at for a key before the check gives up; 500,000 unless set. */
  readonly maxConfigurations?: number
}

export type Verdict<Input, Output> =
  | { readonly kind: "linearizable"; readonly keys: number; readonly operations: number }
  | Violation<Input, Output>
  | {
      readonly kind: "gave-up"
      readonly key: string
      readonly configurations: number
      readonly operations: readonly Operation<Input, Output>[]
    }

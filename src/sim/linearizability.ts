import type { History, Operation } from "./history.js"
import { LinearizationSearch } from "./linearization-search.js"
import type { Model } from "./sequential-model.js"
import { explainViolation, type Violation } from "./violation-explanation.js"

export type { Model } from "./sequential-model.js"

/**
 * Checks whether the answers of clients can be explained by running their operations one at a time, each at
 * some instant between its call and its answer. Keys are independent, so each is checked separately. The
 * problem is NP-complete, so the search has a limit, and reaching it is a verdict of its own.
 */
export function checkLinearizable<State, Input, Output>(
  history: Pick<History<Input, Output>, "operations">,
  model: Model<State, Input, Output>,
  options: CheckOptions = {},
): Verdict<Input, Output> {
  const maxConfigurations = options.maxConfigurations ?? 500_000
  if (!(maxConfigurations >= 1)) {
    throw new RangeError(`maxConfigurations must be a number of at least 1 (got ${maxConfigurations})`)
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

/** Options of {@link checkLinearizable}. */
export interface CheckOptions {
  /** The number of configurations that are visited for a key before the check gives up. Default 500,000. */
  readonly maxConfigurations?: number
}

/** The result of a check: linearizable, a violation with its explanation, or given up as too expensive. */
export type Verdict<Input, Output> =
  | { readonly kind: "linearizable"; readonly keys: number; readonly operations: number }
  | Violation<Input, Output>
  | {
      readonly kind: "gave-up"
      readonly key: string
      readonly configurations: number
      readonly operations: readonly Operation<Input, Output>[]
    }

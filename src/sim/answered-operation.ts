import type { Operation } from "./history.js"

export interface Answered<Input, Output> {
  readonly operation: Operation<Input, Output>
  readonly index: number
  readonly called: number
  readonly returned: number
  readonly output: Output
}

export function answeredOf<Input, Output>(
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

import type { Span, Telemetry } from "../ports/telemetry.js"
import type { Tenure } from "../registry/tenure.js"
import type { Turn } from "./turn.js"
import { Failure } from "./turn-result.js"

/** Begins the span of a turn. */
export function turnSpan(turn: Turn, { id, generation }: Tenure, telemetry: Telemetry): Span {
  const attributes = { "troupe.actor": id.toString(), "troupe.generation": generation }
  const parent = turn.invocation.trace
  const options = parent === undefined ? { attributes } : { attributes, parent }
  return telemetry.span(`${turn.runner.type.name}.${turn.name}`, options)
}

export function endTurnSpan(span: Span, given: unknown): void {
  if (given instanceof Failure) span.fail(given.error)
  span.end()
}

import { FencedError } from "../errors/call-errors.js"
import type { Tenure } from "../registry/tenure.js"

/**
 * Creates the error of a message that an activation did not run or may not send (`not-delivered`), or whose
 * outcome it may not report (`unknown`).
 */
export function fencedError(
  { id, endedBecause = "its node waits for its lease to be renewed", endCause: cause }: Tenure,
  delivery: "not-delivered" | "unknown",
): FencedError {
  return new FencedError(id.toString(), delivery, endedBecause, cause && { cause })
}

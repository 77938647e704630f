import type { ActorId } from "../address/actor-id.js"
import { PlacementError } from "../errors/actor-call-errors.js"
import {
  ActorStoppedError,
  CallError,
  CancelledError,
  FencedError,
  NodeUnreachableError,
  OverloadedError,
  TimeoutError,
} from "../errors/call-errors.js"

/**
 * Returns whether the caller retries a call that ended with this error: the one rule for both sides of a
 * call.
 *
 * The caller retries a call that was not run, and failed in transit or at a node that does not have the
 * actor. The receiver needs the same rule: it must refuse the calls that the caller sent behind one that it
 * will retry (`refused-keys.ts`), or they would overtake it. With a separate rule on each side, the order
 * would break as soon as the two differ.
 */
export function isRetryable(error: Error): error is CallError {
  if (!(error instanceof CallError) || error.delivery !== "not-delivered") return false
  return error instanceof PlacementError || isTransitError(error)
}

/**
 * Returns whether the caller attempts a call again that ended with this error: one that was not run, or whose
 * outcome is unknown and that has an operation. Of the latter, the error must be about the call itself, and
 * not one of a call that its turn made.
 */
export function isRetried(
  error: Error,
  call: { readonly id: ActorId; readonly operation?: unknown },
): boolean {
  return isRetryable(error) || (call.operation !== undefined && isRepeatable(error, call.id))
}

export function isRepeatable(error: Error, id: ActorId): boolean {
  if (!(error instanceof CallError) || error.delivery !== "unknown") return false
  if (error instanceof FencedError) return error.target === id.toString()
  return error instanceof NodeUnreachableError || error instanceof ActorStoppedError
}

/** Whether the outcome of the call of this actor is unknown, and not that of a call that its turn made. */
export function isOutcomeUnknown(error: Error, id: ActorId): boolean {
  if (!(error instanceof CallError) || error.delivery !== "unknown") return false
  if (error instanceof TimeoutError || error instanceof CancelledError) {
    return error.target.startsWith(`${id}.`)
  }
  return isRepeatable(error, id)
}

/** Includes `ActorStoppedError`, the answer of a node that is joining or leaving. */
function isTransitError(error: CallError): boolean {
  return (
    error instanceof FencedError ||
    error instanceof NodeUnreachableError ||
    error instanceof ActorStoppedError ||
    (error instanceof OverloadedError && error.of === "node")
  )
}

import { PlacementError } from "../errors/actor-call-errors.js"
import {
  ActorStoppedError,
  CallError,
  FencedError,
  NodeUnreachableError,
  OverloadedError,
} from "../errors/call-errors.js"

/**
 * Says whether the caller retries a call that ended with this error: the one rule for both sides of a call.
 *
 * The caller retries what was not run and failed on the way, or at a node that does not have the actor. The
 * receiver needs the same answer: it must refuse the calls that the caller sent behind one that it will retry
 * (`refused-keys.ts`), or they would overtake it. With a rule on each side, order would break as soon as the
 * two drift apart.
 */
export function isRetryable(error: Error): error is CallError {
  if (!(error instanceof CallError) || error.delivery !== "not-delivered") return false
  return error instanceof PlacementError || isOfTheWay(error)
}

/** A node that is only joining, or leaving, answers that the target has stopped. */
function isOfTheWay(error: CallError): boolean {
  return (
    error instanceof FencedError ||
    error instanceof NodeUnreachableError ||
    error instanceof ActorStoppedError ||
    (error instanceof OverloadedError && error.of === "node")
  )
}

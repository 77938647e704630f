import { ActorIdError } from "../address/actor-id-error.js"
import { CallError, type Delivery, InvalidMessageError } from "../errors/call-errors.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { fieldOf, isInstance, messageOf } from "../errors/thrown.js"
import { TroupeError } from "../errors/troupe-error.js"

/** Why a request was not answered with a result, as `application/problem+json` (RFC 9457). */
export interface Problem {
  readonly status: number
  /** What kind of problem it is, for people. It depends on the code alone. */
  readonly title: string
  /** What kind of problem it is, for programs. */
  readonly code: string
  /** What is known of this occurrence. */
  readonly detail?: string
  /** Whether the call may have been run; absent if its actor has answered, with an error. */
  readonly delivery?: Delivery
  /** The operation of a call whose outcome is unknown, as the caller named it. */
  readonly operation?: string
}

/** The problems that the gateway itself finds. Nothing was run. */
export const refusals = {
  notFound: refusal(404, "NotFound", "nothing is exposed at this address"),
  methodNotAllowed: refusal(405, "MethodNotAllowed", "calls are made with POST"),
  unauthenticated: refusal(401, "Unauthenticated", "the caller is not known"),
  forbidden: refusal(403, "Forbidden", "the caller may not make this call"),
  foreignOrigin: refusal(403, "ForeignOrigin", "pages of this origin may not use the gateway"),
  tooLarge: refusal(413, "TooLarge", "the body is too large"),
  notJson: refusal(415, "NotJson", "the content type must be application/json"),
  malformed: refusal(400, "Malformed", "the body must be a JSON array of arguments"),
  invalidKey: refusal(400, "InvalidKey", "an actor cannot have this key"),
  invalidOperation: refusal(400, "InvalidOperation", "the operation is not valid"),
  noTicket: refusal(400, "NoTicket", "callers whom nobody knows need a ticket to name operations"),
  notOnce: refusal(400, "NotOnce", "the method is not once, so its calls have no operation"),
  tooManyCalls: refusal(429, "TooManyCalls", "the caller has too many calls in flight"),
  overloaded: refusal(503, "GatewayOverloaded", "the gateway has too many calls in flight"),
  closing: refusal(503, "GatewayClosing", "the gateway is closing"),
} as const satisfies Readonly<Record<string, Problem>>

/** The statuses and titles of errors of the runtime, by their codes. */
const ofRuntime: ReadonlyMap<string, readonly [status: number, title: string]> = new Map([
  ["Timeout", [504, "the actor did not answer in time"]],
  ["Cancelled", [503, "the call was cancelled"]],
  ["NodeUnreachable", [503, "the node of the actor cannot be reached"]],
  ["Quarantined", [503, "the node of the actor cannot be reached"]],
  ["ActorStopped", [503, "the actor has stopped"]],
  ["Activation", [503, "the actor could not be started"]],
  ["Fenced", [503, "the actor has moved"]],
  ["Placement", [503, "the actor could not be placed"]],
  ["UnknownActorType", [503, "no node hosts actors of this type"]],
  ["StoreUnavailable", [503, "the store of the actor cannot be reached"]],
  ["Overloaded", [429, "the actor has too many calls waiting"]],
  ["IndexBuilding", [503, "an index is not complete yet"]],
  ["NotUnique", [409, "another actor has this unique value"]],
  ["UnknownMethod", [404, "the actor has no such method"]],
  ["OperationMismatch", [422, "the operation was used before, for another call"]],
  ["OperationEnded", [409, "the actor no longer knows the operation"]],
  ["InvalidMessage", [400, "the arguments are not valid"]],
  ["CallCycle", [500, "the call would wait for itself"]],
])

/**
 * Says of an error what may be known outside.
 *
 * Messages of errors name nodes, files and queries, and whoever wrote them did not write them for strangers.
 * So they leave in two cases only: if the arguments are invalid, which the caller needs to know, and for the
 * classes in the setting `types`, which their author has made a part of the interface. A stack never leaves.
 */
export function problemOf(error: unknown, { isRegistered, showErrors }: ProblemPolicy): Problem {
  if (isInstance(error, InvalidMessageError) && error.delivery === "unknown") {
    return withDetail({ ...FAILED, code: "InvalidResult", delivery: "unknown" }, error, showErrors)
  }
  if (isInstance(error, CallError)) return ofCallError(error, showErrors)
  if (isInstance(error, ActorIdError)) return refusals.invalidKey
  if (isInstance(error, MalformedBytesError)) return withDetail(refusals.malformed, error, true)
  const known = isInstance(error, TroupeError) ? ofRuntime.get(error.code) : undefined
  if (known !== undefined) {
    const [status, title] = known
    const { code } = error as TroupeError
    return withDetail({ status, title, code }, error, showErrors)
  }
  if (isInstance(error, Error) && isRegistered(error)) {
    const code = fieldOf(error, "code")
    return {
      status: 422,
      title: "the actor refused the call",
      code: typeof code === "string" ? code : error.name,
      detail: messageOf(error),
    }
  }
  return withDetail(FAILED, error, showErrors)
}

export interface ProblemPolicy {
  /** Whether the class of the error is in the setting `types`. */
  isRegistered(error: object): boolean
  readonly showErrors: boolean
}

const FAILED: Problem = { status: 500, title: "the call failed", code: "Failed" }

function ofCallError(error: CallError, showErrors: boolean): Problem {
  const { code, delivery } = error
  const [status, title] = ofRuntime.get(code) ?? [500, "the call failed"]
  return withDetail({ status, title, code, delivery }, error, showErrors || code === "InvalidMessage")
}

function withDetail(problem: Problem, error: unknown, isShown: boolean): Problem {
  return isShown ? { ...problem, detail: messageOf(error) } : problem
}

function refusal(status: number, code: string, title: string): Problem {
  return { status, title, code, delivery: "not-delivered" }
}

import { CallError } from "./call-errors.js"
import { isInstance, messageOf } from "./thrown.js"

// What can become of a call to a virtual actor, beyond what can become of any call.

/**
 * The actor could not be started; `cause` is what its `onActivate`, its constructor or the reading of its
 * state threw. The next call tries again.
 */
export class ActivationError extends CallError {
  readonly code = "Activation"
  /** The actor's id. */
  readonly target: string

  constructor(target: string, options?: ErrorOptions) {
    const { cause } = options ?? {}
    const because = isInstance(cause, Error) ? `: ${messageOf(cause)}` : ""
    super(`${target} could not be started${because}`, "not-delivered", options)
    this.target = target
  }
}

/** The call would wait for itself: who called whom is in `cycle`, the outermost first. */
export class CallCycleError extends CallError {
  readonly code = "CallCycle"
  readonly cycle: readonly string[]

  constructor(cycle: readonly string[]) {
    super(
      `the call would wait for itself: ${cycle.join(" -> ")}; make one of these calls one-way, let the method always interleave, or make the type reentrant`,
      "not-delivered",
    )
    this.cycle = cycle
  }
}

/** No node that is there hosts actors of this type. */
export class UnknownActorTypeError extends CallError {
  readonly code = "UnknownActorType"
  readonly type: string

  constructor(type: string, problem: string) {
    super(`${type}: ${problem}`, "not-delivered")
    this.type = type
  }
}

/** The actor has no such method that could be called from outside. */
export class UnknownMethodError extends CallError {
  readonly code = "UnknownMethod"
  readonly type: string
  readonly method: string

  constructor(type: string, method: string) {
    super(`${type} has no method ${JSON.stringify(method)} that can be called`, "not-delivered")
    this.type = type
    this.method = method
  }
}

/**
 * Why a node did not take a call: the actor is elsewhere, or this node hosts nothing for now, or nobody could
 * be found who does.
 */
export type PlacementProblem = "moved" | "not-here" | "not-placed"

/**
 * The call found no place to run; `cause` is what is wrong with the placement strategy of its type, if that
 * failed. Nothing was run.
 */
export class PlacementError extends CallError {
  readonly code = "Placement"
  /** The actor's id. */
  readonly target: string
  readonly problem: PlacementProblem
  /** Where the store has it, if it has `moved`; in which epoch of the store, and at which revision. */
  readonly where:
    | { readonly node: string | undefined; readonly epoch: string; readonly revision: number }
    | undefined

  constructor(
    target: string,
    problem: PlacementProblem,
    detail: string,
    where?: PlacementError["where"],
    options?: ErrorOptions,
  ) {
    super(`${target}: ${detail}`, "not-delivered", options)
    this.target = target
    this.problem = problem
    this.where = where
  }
}

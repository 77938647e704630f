import { CallError } from "./call-errors.js"
import { isInstance, messageOf } from "./thrown.js"

// Errors of calls to virtual actors, in addition to those that any call can fail with.

/**
 * The actor could not be started. `cause` is what its `onActivate`, its constructor or the reading of its
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

/** The call would wait for itself. */
export class CallCycleError extends CallError {
  readonly code = "CallCycle"
  /**
   * The ids of the actors that wait for each other, the outermost caller first; the first is repeated at the
   * end.
   */
  readonly cycle: readonly string[]

  constructor(cycle: readonly string[]) {
    super(
      `the call would wait for itself: ${cycle.join(" -> ")}; make one of these calls one-way, let the method always interleave, or make the type reentrant`,
      "not-delivered",
    )
    this.cycle = cycle
  }
}

/** No node of the cluster hosts actors of this type. */
export class UnknownActorTypeError extends CallError {
  readonly code = "UnknownActorType"
  /** The type of the actor that was called. */
  readonly type: string

  constructor(type: string, problem: string) {
    super(`${type}: ${problem}`, "not-delivered")
    this.type = type
  }
}

/** The actor has no callable method of this name. */
export class UnknownMethodError extends CallError {
  readonly code = "UnknownMethod"
  /** The type of the actor that was called. */
  readonly type: string
  /** The name that was called. */
  readonly method: string

  constructor(type: string, method: string, problem?: string) {
    super(problem ?? `${type} has no callable method ${JSON.stringify(method)}`, "not-delivered")
    this.type = type
    this.method = method
  }
}

/**
 * Why a node refused a call: the actor is on another node (`moved`), this node hosts no actors at present
 * (`not-here`), or no host was found (`not-placed`).
 */
export type PlacementProblem = "moved" | "not-here" | "not-placed"

/**
 * No node accepted the call, so nothing was run. `cause` is the error of the type's placement strategy, if
 * that failed.
 */
export class PlacementError extends CallError {
  readonly code = "Placement"
  /** The actor's id. */
  readonly target: string
  /** Why no node accepted the call. */
  readonly problem: PlacementProblem
  /**
   * For `moved`: the node in the placement record, and the epoch and revision at which the record was read.
   * `isShard`: the record is that of the actor's shard. Default false.
   */
  readonly where:
    | {
        readonly node: string | undefined
        readonly epoch: string
        readonly revision: number
        readonly isShard?: boolean
      }
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

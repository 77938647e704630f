import { TroupeError } from "./troupe-error.js"

/**
 * Whether a call that failed may have been carried out. `not-delivered`: it was not, and calling again is safe.
 * `unknown`: it may have been, in whole or in part.
 */
export type Delivery = "not-delivered" | "unknown"

/** A call that ended without its answer. */
export abstract class CallError extends TroupeError {
  readonly delivery: Delivery

  constructor(message: string, delivery: Delivery, options?: ErrorOptions) {
    super(message, options)
    this.delivery = delivery
  }
}

/** No answer came in time. */
export class TimeoutError extends CallError {
  readonly code = "Timeout"
  readonly target: string
  readonly timeoutMs: number

  constructor(target: string, timeoutMs: number) {
    super(`${target} did not answer within ${timeoutMs} ms`, "unknown")
    this.target = target
    this.timeoutMs = timeoutMs
  }
}

/** The caller's `AbortSignal` was aborted; `cause` is its reason. */
export class CancelledError extends CallError {
  readonly code = "Cancelled"
  readonly target: string

  constructor(target: string, delivery: Delivery, cause: unknown) {
    super(`the call to ${target} was cancelled`, delivery, { cause })
    this.target = target
  }
}

/** The target is full: it has as many messages waiting as it was allowed. */
export class OverloadedError extends CallError {
  readonly code = "Overloaded"
  readonly target: string
  readonly capacity: number

  constructor(target: string, capacity: number) {
    super(`${target} has ${capacity} messages waiting, which is its limit`, "not-delivered")
    this.target = target
    this.capacity = capacity
  }
}

/** The target had stopped, or stopped before it answered. */
export class ActorStoppedError extends CallError {
  readonly code = "ActorStopped"
  readonly target: string

  constructor(target: string, delivery: Delivery, options?: ErrorOptions) {
    super(
      delivery === "unknown" ? `${target} stopped before it answered` : `${target} has stopped`,
      delivery,
      options,
    )
    this.target = target
  }
}

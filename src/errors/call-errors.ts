import { TroupeError } from "./troupe-error.js"

/**
 * Whether a failed call may have been executed. `not-delivered`: it was not, and retrying is safe. `unknown`:
 * it may have been, in whole or in part.
 */
export type Delivery = "not-delivered" | "unknown"

/**
 * The base class of errors that end a call without an answer: what to catch around a call.
 *
 * @example
 * import { CallError } from "troupe"
 *
 * function maySafelyRetry(error: unknown): boolean {
 *   return error instanceof CallError && error.delivery === "not-delivered"
 * }
 */
export abstract class CallError extends TroupeError {
  /** Whether the call may have been executed. */
  readonly delivery: Delivery
  /**
   * The operation of a call of a `once` method whose outcome is unknown: another call with it, by
   * `withOptions`, is another attempt at the same.
   */
  declare operation?: string

  constructor(message: string, delivery: Delivery, options?: ErrorOptions) {
    super(message, options)
    this.delivery = delivery
  }
}

/** The call timed out. */
export class TimeoutError extends CallError {
  readonly code = "Timeout"
  /** The path or the id of the target. */
  readonly target: string
  /** How long the call was allowed to take. */
  readonly timeoutMs: number

  /**
   * `problem` replaces the default text after the target's name, where more is known than the delivery says.
   */
  constructor(target: string, timeoutMs: number, delivery: Delivery = "unknown", problem?: string) {
    const usual = delivery === "unknown" ? "did not answer" : "could not be reached"
    super(`${target} ${problem ?? `${usual} within ${timeoutMs} ms`}`, delivery)
    this.target = target
    this.timeoutMs = timeoutMs
  }
}

/** The caller's `AbortSignal` was aborted; `cause` is its reason. */
export class CancelledError extends CallError {
  readonly code = "Cancelled"
  /** The path or the id of the target. */
  readonly target: string

  constructor(target: string, delivery: Delivery, cause: unknown) {
    super(`the call to ${target} was cancelled`, delivery, { cause })
    this.target = target
  }
}

/** The target's mailbox, or a buffer on the way to its node, is full. */
export class OverloadedError extends CallError {
  readonly code = "Overloaded"
  /** The path or the id of the target. */
  readonly target: string
  /** The limit that was reached. */
  readonly capacity: number
  /** What is full: the actor's mailbox, or a buffer between this node and the target's node. */
  readonly of: "actor" | "node"

  constructor(
    target: string,
    capacity: number,
    what = "messages waiting",
    { of = "actor" }: { readonly of?: "actor" | "node" } = {},
  ) {
    super(`${target} has reached its limit of ${capacity} ${what}`, "not-delivered")
    this.target = target
    this.capacity = capacity
    this.of = of
  }
}

/** The target was not running, or stopped before it answered. */
export class ActorStoppedError extends CallError {
  readonly code = "ActorStopped"
  /** The path of the target. */
  readonly target: string

  constructor(target: string, delivery: Delivery, options?: ErrorOptions) {
    super(
      delivery === "unknown"
        ? `${target} stopped before it answered`
        : `${target} is not running; it has stopped or was never started`,
      delivery,
      options,
    )
    this.target = target
  }
}

/** The message, or the answer to it, cannot be serialized, or the receiver cannot decode it. */
export class InvalidMessageError extends CallError {
  readonly code = "InvalidMessage"

  constructor(message: string, delivery: Delivery = "not-delivered", options?: ErrorOptions) {
    super(message, delivery, options)
  }
}

/** The target's node cannot be reached, or was lost before it answered. */
export class NodeUnreachableError extends CallError {
  readonly code = "NodeUnreachable"
  /** `host:port` of the node. */
  readonly authority: string

  constructor(authority: string, delivery: Delivery, problem: string, options?: ErrorOptions) {
    super(`${authority}: ${problem}`, delivery, options)
    this.authority = authority
  }
}

/**
 * The target's node is quarantined: it violated the protocol, or an operator quarantined it. No messages are
 * exchanged with it.
 */
export class QuarantinedError extends CallError {
  readonly code = "Quarantined"
  /** `host:port` of the node. */
  readonly authority: string

  constructor(authority: string, reason: string) {
    super(`${authority} is quarantined: ${reason}`, "not-delivered")
    this.authority = authority
  }
}

/**
 * The activation lost its right to act: its node lost its lease, or a later activation has replaced it. It
 * can no longer save, reply or call; the next call activates the actor from its stored state.
 */
export class FencedError extends CallError {
  readonly code = "Fenced"
  /** The actor's id. */
  readonly target: string

  constructor(target: string, delivery: Delivery, because: string, options?: ErrorOptions) {
    super(`${target} is fenced: ${because}`, delivery, options)
    this.target = target
  }
}

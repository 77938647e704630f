import { TroupeError } from "./troupe-error.js"

/**
 * Whether a call that failed may have been carried out. `not-delivered`: it was not, and calling again is
 * safe. `unknown`: it may have been, in whole or in part.
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

  /**
   * `problem` is what follows the target's name in the message, where more is known than the delivery says.
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
  readonly target: string

  constructor(target: string, delivery: Delivery, cause: unknown) {
    super(`the call to ${target} was cancelled`, delivery, { cause })
    this.target = target
  }
}

/** The target, or the way to its node, is full: as much waits for it as may. */
export class OverloadedError extends CallError {
  readonly code = "Overloaded"
  readonly target: string
  readonly capacity: number
  /** What is full: the actor's mailbox, or what this node may keep for the target's node. */
  readonly of: "actor" | "node"

  constructor(
    target: string,
    capacity: number,
    what = "messages waiting",
    { of = "actor" }: { readonly of?: "actor" | "node" } = {},
  ) {
    super(`${target} has ${capacity} ${what}, which is its limit`, "not-delivered")
    this.target = target
    this.capacity = capacity
    this.of = of
  }
}

/** The target had stopped, or stopped before it answered. */
export class ActorStoppedError extends CallError {
  readonly code = "ActorStopped"
  readonly target: string

  constructor(target: string, delivery: Delivery, options?: ErrorOptions) {
    super(
      delivery === "unknown"
        ? `${target} stopped before it answered`
        : `${target} is not running: it has stopped, or was never there`,
      delivery,
      options,
    )
    this.target = target
  }
}

/** The message, or the answer to it, cannot cross the wire, or the other side cannot make sense of it. */
export class InvalidMessageError extends CallError {
  readonly code = "InvalidMessage"

  constructor(message: string, delivery: Delivery = "not-delivered", options?: ErrorOptions) {
    super(message, delivery, options)
  }
}

/** The target's node cannot be reached, or was lost before it answered. */
export class NodeUnreachableError extends CallError {
  readonly code = "NodeUnreachable"
  /** `host:port`. */
  readonly authority: string

  constructor(authority: string, delivery: Delivery, problem: string, options?: ErrorOptions) {
    super(`${authority}: ${problem}`, delivery, options)
    this.authority = authority
  }
}

/** Nothing is exchanged with the target's node: it broke the protocol, or was shut out. */
export class QuarantinedError extends CallError {
  readonly code = "Quarantined"
  readonly authority: string

  constructor(authority: string, reason: string) {
    super(`${authority} is quarantined: ${reason}`, "not-delivered")
    this.authority = authority
  }
}

/**
 * The activation that was to do it may not act any more: its node lost its lease, or another activation has
 * taken its place. What it had begun to do is refused wherever it would show; the next call starts from what
 * is stored.
 */
export class FencedError extends CallError {
  readonly code = "Fenced"
  /** The actor's id. */
  readonly target: string

  constructor(target: string, delivery: Delivery, because: string, options?: ErrorOptions) {
    super(`${target} is fenced off: ${because}`, delivery, options)
    this.target = target
  }
}

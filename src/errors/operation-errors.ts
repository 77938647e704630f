import { CallError } from "./call-errors.js"

/**
 * The operation was used before, for another method or other arguments. Use a name of its own for each
 * intent.
 */
export class OperationMismatchError extends CallError {
  readonly code = "OperationMismatch"
  /** The id of the actor. */
  readonly actor: string

  constructor(actor: string) {
    super(`an operation of ${actor} was used before, for another method or other arguments`, "not-delivered")
    this.actor = actor
  }
}

/** The actor no longer knows whether it has applied the operation, so it does not apply it. */
export class OperationEndedError extends CallError {
  readonly code = "OperationEnded"
  /** The id of the actor. */
  readonly actor: string

  constructor(actor: string, because: string) {
    super(`an operation of ${actor} has ended: ${because}`, "unknown")
    this.actor = actor
  }
}

import { CallError } from "../errors/call-errors.js"
import { fieldOf, isInstance, messageOf, readable, textOf } from "../errors/thrown.js"
import { plainError } from "../remote/plain-error.js"
import type { Copier } from "./copier.js"

/** The outcome of a turn that failed. */
export class Failure {
  readonly error: unknown
  /** False if the message was refused before the method was called. */
  readonly wasRun: boolean

  constructor(error: unknown, wasRun = true) {
    this.error = readable(error)
    this.wasRun = wasRun
  }
}

/**
 * Wraps a thenable in a promise, because a thenable may settle twice or throw. Returns other values as they
 * are.
 */
export function adoptThenable(given: unknown): unknown {
  if (given instanceof Promise) return given
  return typeof (given as { then?: unknown } | null | undefined)?.then === "function"
    ? Promise.resolve(given)
    : given
}

/**
 * Returns the error that a turn fails with. If the turn rethrows a `CallError` of a call that it made, that
 * error may have the delivery `not-delivered`. The turn itself has run, so the caller gets a copy that says
 * `unknown`.
 */
export function turnError(error: unknown): Error {
  if (!isInstance(error, Error)) return new Error(textOf(error), { cause: error })
  if (!isInstance(error, CallError) || error.delivery === "unknown") return error
  const copy = new Error(messageOf(error))
  const fields = {
    delivery: { value: "unknown", enumerable: true },
    stack: { value: fieldOf(error, "stack") },
  }
  try {
    Object.setPrototypeOf(copy, Object.getPrototypeOf(error) as object)
    return Object.defineProperties(copy, { ...Object.getOwnPropertyDescriptors(error), ...fields })
  } catch {
    return plainError(error)
  }
}

/** A copy of what a turn gave: what waits must not show what later turns change. */
export function copiedResult(given: unknown, copier: Pick<Copier, "copy">): unknown {
  if (given instanceof Failure) return given
  try {
    return copier.copy(given)
  } catch (error) {
    return new Failure(error)
  }
}

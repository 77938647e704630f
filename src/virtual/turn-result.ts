import { CallError } from "../errors/call-errors.js"
import { fieldOf, isInstance, messageOf, readable, textOf } from "../errors/thrown.js"
import { plainError } from "../remote/plain-error.js"

/** What a method threw, on its way to the caller. */
export class Failure {
  readonly error: unknown
  /** False if its input was refused before it ran. */
  readonly wasRun: boolean

  constructor(error: unknown, wasRun = true) {
    this.error = readable(error)
    this.wasRun = wasRun
  }
}

/** Wraps what merely looks like a promise, which may settle twice, or throw; a promise of it does neither. */
export function promised(given: unknown): unknown {
  if (given instanceof Promise) return given
  return typeof (given as { then?: unknown } | null | undefined)?.then === "function"
    ? Promise.resolve(given)
    : given
}

/**
 * The error that a turn ends with. An error of a call that was made in the turn may say that nothing was run,
 * which is not true of the turn.
 */
export function thrown(error: unknown): Error {
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

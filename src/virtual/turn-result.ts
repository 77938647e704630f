import { CallError } from "../errors/call-errors.js"

/** What a method threw, on its way to whoever called it. */
export class Failure {
  readonly error: unknown
  /** Or else its input was refused before. */
  readonly wasRun: boolean

  constructor(error: unknown, wasRun = true) {
    this.error = error
    this.wasRun = wasRun
  }
}

/** What merely looks like a promise may settle twice, or throw; a promise of it does neither. */
export function promised(given: unknown): unknown {
  if (given instanceof Promise) return given
  return typeof (given as { then?: unknown } | null | undefined)?.then === "function"
    ? Promise.resolve(given)
    : given
}

/** An error of a call that was made in this turn may say that nothing was run; of this turn that is not true. */
export function thrown(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(textOf(error), { cause: error })
  if (!(error instanceof CallError) || error.delivery === "unknown") return error
  const copy = new Error(error.message)
  const fields = { delivery: { value: "unknown", enumerable: true }, stack: { value: error.stack } }
  Object.setPrototypeOf(copy, Object.getPrototypeOf(error) as object)
  return Object.defineProperties(copy, { ...Object.getOwnPropertyDescriptors(error), ...fields })
}

/** What is thrown may be anything, also what cannot be printed. */
function textOf(thrown: unknown): string {
  try {
    return String(thrown)
  } catch {
    return "something was thrown that cannot be printed"
  }
}

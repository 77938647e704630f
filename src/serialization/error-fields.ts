import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { isSparseIndex, keepInTable } from "./index-keys.js"

/** The fields of an error: first those that are not enumerable, then those that are. */
export type ErrorFields = readonly [hidden: Fields, shown: Fields]

type Fields = Record<string, unknown>

/**
 * What is sent of an error. Of the fields that are not enumerable those with a meaning go along; where `name` and
 * `message` are not the error's own, as in a `DOMException`, they are read from its class, unless it will have the same
 * class again.
 */
export function fieldsOf(error: Error, keepsClass: boolean, stacks = true): ErrorFields {
  const shown = { ...error }
  const hidden: Fields = {}
  for (const name of hideable) {
    if (Object.hasOwn(shown, name) || (name === "stack" && !stacks)) continue
    if (Object.hasOwn(error, name) || (!keepsClass && inheritable.includes(name))) {
      const value = error[name as keyof Error]
      if (!texts.includes(name) || typeof value === "string") hidden[name] = value
    }
  }
  if (hidden["name"] === "Error" && !keepsClass) delete hidden["name"]
  return [hidden, shown]
}

/**
 * An error as the engine makes them, of that class, whose constructor does not run. Its trace is the one that it came
 * with, so none is taken here.
 */
export function makeError(prototype: object, hidden: unknown, shown: unknown): Error {
  const error = errorWithoutTrace()
  if (prototype !== Error.prototype) Object.setPrototypeOf(error, prototype)
  // The engine gave it one, and the error that was sent may have had none.
  delete error.stack
  for (const [name, value] of entries(hidden)) {
    if (!hideable.includes(name) || (texts.includes(name) && typeof value !== "string")) {
      throw new MalformedBytesError("an error has a hidden field that errors do not have")
    }
    define(error, name, value, false)
  }
  const fields = entries(shown)
  if (fields.some(([name]) => isSparseIndex(name, fields.length))) keepInTable(error)
  for (const [name, value] of fields) define(error, name, value, true)
  return error
}

const hideable: readonly string[] = ["name", "message", "stack", "cause", "errors"]
const texts: readonly string[] = ["name", "message", "stack"]
const inheritable: readonly string[] = ["name", "message"]

function errorWithoutTrace(): Error {
  const { stackTraceLimit } = Error
  Reflect.set(Error, "stackTraceLimit", 0)
  const error = new Error()
  Reflect.set(Error, "stackTraceLimit", stackTraceLimit)
  return error
}

function entries(fields: unknown): [string, unknown][] {
  if (typeof fields === "object" && fields !== null) return Object.entries(fields)
  throw new MalformedBytesError("the fields of an error are no object")
}

function define(error: Error, name: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(error, name, { value, enumerable, writable: true, configurable: true })
}

import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { fieldOf, textOf } from "../errors/thrown.js"
import { isSparseIndex, keepInTable, keepNamesInTable } from "./index-keys.js"

/** The fields of an error: first those that are not enumerable, then those that are. */
export type ErrorFields = readonly [hidden: Fields, shown: Fields]

type Fields = Record<string, unknown>

/**
 * Returns the fields of an error that are sent. It never throws: fields that cannot be read are left out,
 * and a message that is not a string is converted to one.
 *
 * With `all`, all enumerable fields are sent, for registered classes and those of the runtime. Of other
 * errors only name, message, `code` and cause are sent: libraries keep requests in errors, with passwords
 * in their headers. At most 1,000 fields are sent.
 *
 * If `name` and `message` are not own fields, as in a `DOMException`, they are read from the class, unless
 * the decoded error has the same class (`keepsClass`).
 */
export function fieldsOf(error: Error, { keepsClass, all, stacks }: ErrorForm): ErrorFields {
  const shown: Fields = {}
  const hidden: Fields = {}
  for (const name of namesIn(error, all)) {
    const value = fieldOf(error, name)
    if (texts.includes(name) ? typeof value === "string" : name !== "code" || all || isCode(value)) {
      shown[name] = value
    }
  }
  for (const name of hideable) {
    if (Object.hasOwn(shown, name)) continue
    if (!isOwn(error, name) && (keepsClass || !inheritable.includes(name))) continue
    const value = fieldOf(error, name)
    if (!texts.includes(name) || typeof value === "string") hidden[name] = value
    else if (name === "message" && value !== undefined) hidden[name] = textOf(value)
  }
  if (!stacks) {
    delete hidden["stack"]
    delete shown["stack"]
  }
  if (hidden["name"] === "Error" && !keepsClass) delete hidden["name"]
  return [hidden, shown]
}

/** Says which fields of an error are sent. */
export interface ErrorForm {
  readonly keepsClass: boolean
  readonly all: boolean
  readonly stacks: boolean
}

/**
 * Makes an error of a class without running its constructor. No stack trace is captured, since the error has
 * the one that was sent with it.
 */
export function makeError(prototype: object, hidden: unknown, shown: unknown): Error {
  const error = errorWithoutTrace()
  if (prototype !== Error.prototype) Object.setPrototypeOf(error, prototype)
  // The engine has defined a stack; the sent error may have had none.
  delete error.stack
  for (const [name, value] of Object.entries(fieldsIn(hidden))) {
    if (!hideable.includes(name) || (texts.includes(name) && typeof value !== "string")) {
      throw new MalformedBytesError("an error has an unknown hidden field")
    }
    define(error, name, value, false)
  }
  const fields = fieldsIn(shown)
  if (texts.some((name) => Object.hasOwn(fields, name) && typeof fields[name] !== "string")) {
    throw new MalformedBytesError("the name, message and stack of an error must be strings")
  }
  const names = Object.keys(fields)
  if (names.length > MOST_FIELDS)
    throw new MalformedBytesError(`an error has more than ${MOST_FIELDS} fields`)
  if (names.some((name) => isSparseIndex(name, names.length))) keepInTable(error)
  if (names.length > MOST_USUAL_FIELDS) keepNamesInTable(error)
  for (const name of names) define(error, name, fields[name], true)
  return error
}

/**
 * Limit of fields that are sent. Setting more on an error takes longer than all else in a message of that
 * length.
 */
const MOST_FIELDS = 1_000

/** Honest errors rarely have more fields than this. */
const MOST_USUAL_FIELDS = 8

const hideable: readonly string[] = ["name", "message", "stack", "cause", "errors"]
const texts: readonly string[] = ["name", "message", "stack"]
const inheritable: readonly string[] = ["name", "message"]
const usual: readonly string[] = [...hideable, "code"]

/** Returns the names of its own enumerable fields, or of those that are sent of every error. */
function namesIn(error: Error, all: boolean): readonly string[] {
  try {
    const names = Object.keys(error).slice(0, MOST_FIELDS)
    return all ? names : names.filter((name) => usual.includes(name))
  } catch {
    return []
  }
}

function isOwn(error: Error, name: string): boolean {
  try {
    return Object.hasOwn(error, name)
  } catch {
    return false
  }
}

/** Whether the value is an error code by Node's convention. */
function isCode(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number"
}

function errorWithoutTrace(): Error {
  const { stackTraceLimit } = Error
  Reflect.set(Error, "stackTraceLimit", 0)
  const error = new Error()
  Reflect.set(Error, "stackTraceLimit", stackTraceLimit)
  return error
}

function fieldsIn(fields: unknown): Fields {
  if (typeof fields === "object" && fields !== null) return fields as Fields
  throw new MalformedBytesError("the fields of an error must be an object")
}

/**
 * Sets a field without running a setter of the class. A plain assignment is used where there is none, since
 * it is several times as fast.
 */
function define(error: Error, name: string, value: unknown, enumerable: boolean): void {
  if (enumerable && !(name in error)) (error as unknown as Fields)[name] = value
  else Object.defineProperty(error, name, { value, enumerable, writable: true, configurable: true })
}

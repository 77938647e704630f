import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { fieldOf, textOf } from "../errors/thrown.js"
import { isSparseIndex, keepInTable, keepNamesInTable } from "./index-keys.js"

/** The fields of an error: first those that are not enumerable, then those that are. */
export type ErrorFields = readonly [hidden: Fields, shown: Fields]

type Fields = Record<string, unknown>

/**
 * What is sent of an error. Whatever the error is, this does not throw: what cannot be read is left out, and
 * a message that is no text is sent as the text of it.
 *
 * `all`: all of its enumerable fields, as those of a class that was registered, or of the runtime's own, are
 * meant to be sent. Of other errors only their name, message, `code` and what caused them go along: libraries
 * keep requests in them, with passwords in their headers. More than 1,000 fields are not sent.
 *
 * Where `name` and `message` are not the error's own, as in a `DOMException`, they are read from its class,
 * unless it will have the same class again (`keepsClass`).
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

/** In which way an error is sent. */
export interface ErrorForm {
  readonly keepsClass: boolean
  readonly all: boolean
  readonly stacks: boolean
}

/**
 * An error as the engine makes them, of that class, whose constructor does not run. Its trace is the one that
 * it came with, so none is taken here.
 */
export function makeError(prototype: object, hidden: unknown, shown: unknown): Error {
  const error = errorWithoutTrace()
  if (prototype !== Error.prototype) Object.setPrototypeOf(error, prototype)
  // The engine gave it one, and the error that was sent may have had none.
  delete error.stack
  for (const [name, value] of Object.entries(fieldsIn(hidden))) {
    if (!hideable.includes(name) || (texts.includes(name) && typeof value !== "string")) {
      throw new MalformedBytesError("an error has a hidden field that errors do not have")
    }
    define(error, name, value, false)
  }
  const fields = fieldsIn(shown)
  if (texts.some((name) => Object.hasOwn(fields, name) && typeof fields[name] !== "string")) {
    throw new MalformedBytesError("an error has a name, a message or a stack that is no text")
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
 * Further ones are not sent. To give them to an error takes longer than all else in a message of that length.
 */
const MOST_FIELDS = 1_000

/** Errors with more than these are few, unless somebody has made them up. */
const MOST_USUAL_FIELDS = 8

const hideable: readonly string[] = ["name", "message", "stack", "cause", "errors"]
const texts: readonly string[] = ["name", "message", "stack"]
const inheritable: readonly string[] = ["name", "message"]
const usual: readonly string[] = [...hideable, "code"]

/** The names of its own enumerable fields, or of those that go along of every error. */
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

/** By Node's convention. */
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
  throw new MalformedBytesError("the fields of an error are no object")
}

/**
 * What stands in the way of an assignment, such as a setter of its class, is passed by; where nothing does,
 * that is several times as fast.
 */
function define(error: Error, name: string, value: unknown, enumerable: boolean): void {
  if (enumerable && !(name in error)) (error as unknown as Fields)[name] = value
  else Object.defineProperty(error, name, { value, enumerable, writable: true, configurable: true })
}

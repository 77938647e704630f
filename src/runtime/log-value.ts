import { isNativeError } from "node:util/types"
import type { LogFields } from "../ports/logger.js"

/** A JSON value that runs no code when it is read. */
export type LogValue = null | boolean | number | string | readonly LogValue[] | LogRecord | LoggedError

export interface LogRecord {
  readonly [name: string]: LogValue
}

/** The parts of an error; the fields are in the order in which they are written. */
export class LoggedError {
  name: LogValue | undefined
  code: LogValue | undefined
  message: LogValue | undefined
  stack: LogValue | undefined
  details: LogRecord | undefined
  cause: LogValue | undefined
  errors: LogValue | undefined
}

/**
 * Copies the fields of a log call.
 *
 * A log call must not throw and must not fill the disk, whatever it is given: getters and proxies that
 * throw, cyclic structures, references to half of the heap. So every access to a foreign object is guarded,
 * and one copier has one allowance for everything that it copies.
 */
export class LogCopier {
  #leftChars = 64 * 1024
  readonly #inside: object[] = []

  /** Copies fields; later ones override earlier ones. Undefined fields are omitted, as in JSON. */
  fields(layers: readonly LogFields[]): LogRecord {
    const record = emptyRecord()
    for (const layer of layers) {
      try {
        this.#properties(layer, record)
      } catch {
        record[wholeLayer] = unreadable
      }
    }
    return record
  }

  text(value: string): string {
    const length = Math.min(value.length, maxTextChars, Math.max(0, this.#leftChars))
    this.#leftChars -= length
    return length === value.length ? value : `${value.slice(0, length)}[${value.length - length} more]`
  }

  #copy(value: unknown): LogValue | undefined {
    this.#leftChars -= charsPerValue
    switch (typeof value) {
      case "string":
        return this.text(value)
      case "number":
        return Number.isFinite(value) ? value : String(value)
      case "bigint":
        return isLong(value) ? `[bigint of ${bitsOf(value)} bits]` : String(value)
      case "symbol":
        return this.text(String(value))
      case "function":
        return "[function]"
      case "boolean":
      case "undefined":
        return value
      default:
        return value === null ? null : this.#object(value as object)
    }
  }

  #object(value: object): LogValue | undefined {
    if (this.#inside.includes(value)) return "[circular]"
    if (this.#inside.length === maxDepth || this.#leftChars <= 0) return leftOut
    this.#inside.push(value)
    try {
      return this.#contents(value)
    } catch {
      return unreadable
    } finally {
      this.#inside.pop()
    }
  }

  #contents(value: object): LogValue | undefined {
    if (isNativeError(value) || value instanceof Error) return this.#error(value)
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    if (Array.isArray(value) || value instanceof Set || value instanceof Map) return this.#list(value)
    if ("toJSON" in value && typeof value.toJSON === "function") return this.#copy(value.toJSON())
    return this.#properties(value, emptyRecord())
  }

  #list(items: Iterable<unknown>): LogValue {
    const list: LogValue[] = []
    for (const item of items) {
      if (this.#leftChars <= 0) return [...list, leftOut]
      list.push(this.#copy(item) ?? null)
    }
    return list
  }

  #error(error: Error): LogValue {
    const logged = new LoggedError()
    for (const name of ["name", "code", "message", "stack"] as const)
      logged[name] = this.#property(error, name)
    const details = this.#properties(error, emptyRecord(), errorFields)
    if (Object.keys(details).length > 0) logged.details = details
    for (const name of ["cause", "errors"] as const) logged[name] = this.#property(error, name)
    return logged
  }

  #properties(from: object, into: Record<string, LogValue>, except?: ReadonlySet<string>): LogRecord {
    // Iterates name by name, so that a proxy is not asked for all of them before the allowance is checked.
    for (const name in from) {
      if (!Object.hasOwn(from, name) || except?.has(name)) continue
      if (this.#leftChars <= 0) {
        into["..."] = leftOut
        break
      }
      const key = this.text(name)
      const value = this.#property(from, name)
      if (value !== undefined) into[key] = value
    }
    return into
  }

  #property(from: object, name: string): LogValue | undefined {
    try {
      return this.#copy((from as Record<string, unknown>)[name])
    } catch {
      return unreadable
    }
  }
}

const maxTextChars = 8 * 1024
const maxDepth = 8
const charsPerValue = 8
const longBigint = 2n ** 1_000n
/** The largest bigint that V8 supports. */
const maxBigintBits = 2 ** 30
const leftOut = "[left out]"
const unreadable = "[unreadable]"
const wholeLayer = "fields"
const errorFields: ReadonlySet<string> = new Set(Object.keys(new LoggedError()))

/**
 * Whether printing the digits would take too long: the time grows with the square of their number.
 */
function isLong(value: bigint): boolean {
  return value >= longBigint || value <= -longBigint
}

/**
 * Each shift with a non-zero result at least halves the number, so all of them cost about as much as the
 * first.
 */
function bitsOf(value: bigint): number {
  let left = value < 0n ? -value : value
  let bits = 1
  for (let step = maxBigintBits; step >= 1; step /= 2) {
    const high = left >> BigInt(step)
    if (high === 0n) continue
    left = high
    bits += step
  }
  return bits
}

/** Has no prototype, since a field may be called `__proto__`. */
function emptyRecord(): Record<string, LogValue> {
  return Object.create(null)
}

import { shownKind } from "../address/quote.js"

/**
 * Values as parts of keys, in an order that the store's bytewise order of keys agrees with.
 *
 *     false < true; then dates; bigints; numbers; strings, by their code points; tuples, by their elements
 *
 * A written value is printable ASCII without spaces and "/", is never the beginning of another one, and ends
 * with "!", which is below all other characters in it. So all values from one on follow its form without the
 * "!", and a listing can begin there.
 *
 * JSON or the forms that people read would be shorter to explain, but they do not sort: 10 is below 9 there,
 * and "a" and "a b" are apart.
 */
export type OrderedValue = string | number | bigint | boolean | Date | readonly OrderedValue[]

/**
 * Undefined for what is in no index: undefined, null, and tuples with one of them. Throws a `RangeError` for
 * what cannot be ordered, and for what is too long.
 */
export function orderedText(value: unknown): string | undefined {
  const text = value === undefined || value === null ? undefined : textOf(value, 0)
  if (text === undefined || text.length <= MAX_TEXT) return text
  throw new RangeError(`must have at most ${MAX_TEXT} characters as a part of a key (got ${text.length})`)
}

/** Undefined for a tuple that has undefined or null. */
function textOf(value: unknown, depth: number): string | undefined {
  switch (typeof value) {
    case "boolean":
      return value ? "b1!" : "b0!"
    case "bigint":
      return `i${bigintText(value)}!`
    case "number":
      if (Number.isFinite(value)) return `n${numberText(value)}!`
      throw new RangeError(`must be a finite number (got ${value})`)
    case "string":
      return `s${stringText(value)}!`
  }
  if (value instanceof Date) {
    const at = value.getTime()
    if (!Number.isNaN(at)) return `d${numberText(at)}!`
    throw new RangeError("must be a valid date")
  }
  if (Array.isArray(value)) return tupleText(value, depth)
  throw new RangeError(
    `must be a string, a number, a bigint, a boolean, a date, or an array of these (got ${shownKind(value)})`,
  )
}

function tupleText(values: readonly unknown[], depth: number): string | undefined {
  if (depth === MAX_DEPTH) throw new RangeError(`must not be an array in more than ${MAX_DEPTH - 1} others`)
  let text = "t"
  for (const one of values) {
    const part = one === undefined || one === null ? undefined : textOf(one, depth + 1)
    if (part === undefined) return undefined
    text += part
  }
  return `${text}!`
}

/** The bits of a double sort like the number once the sign is turned, and of negative ones all bits. */
function numberText(value: number): string {
  // -0 is 0.
  scratch.setFloat64(0, value === 0 ? 0 : value)
  const bits = scratch.getBigUint64(0)
  const sorted = bits >> 63n === 0n ? bits | SIGN : ~bits & ALL
  return sorted.toString(16).padStart(16, "0")
}

const scratch = new DataView(new ArrayBuffer(8))
const SIGN = 1n << 63n
const ALL = (1n << 64n) - 1n

/** The number of digits comes first, so that longer numbers are higher; of negative ones all is turned. */
function bigintText(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString(16)
  if (digits.length > MAX_TEXT) throw new RangeError("must have fewer digits")
  const text = digits.length.toString(16).padStart(3, "0") + digits
  return value < 0n ? `m${turned(text)}` : `p${text}`
}

function turned(digits: string): string {
  return [...digits].map((digit) => (15 - Number.parseInt(digit, 16)).toString(16)).join("")
}

/**
 * Bytes of UTF-8. Most of ASCII stands for itself; what may not be in a key, or is needed here, is written as
 * two characters, of which the first one keeps the order.
 */
function stringText(value: string): string {
  if (/\p{Surrogate}/u.test(value)) throw new RangeError("must be well-formed text")
  if (PLAIN.test(value)) return value
  let text = ""
  for (const byte of Buffer.from(value)) text += BYTES[byte] as string
  return text
}

const PLAIN = /^[%-\-0-|]*$/

const BYTES: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  if (byte < 0x25) return `$${String.fromCharCode(0x30 + byte)}`
  if (byte === 0x2e) return ".0"
  if (byte === 0x2f) return ".1"
  if (byte < 0x7d) return String.fromCharCode(byte)
  return byte < 0xc0 ? `}${String.fromCharCode(0x30 + byte - 0x7d)}` : `~${String.fromCharCode(byte - 0x90)}`
})

/** Keys have 2,400 characters at most. */
const MAX_TEXT = 512
const MAX_DEPTH = 8

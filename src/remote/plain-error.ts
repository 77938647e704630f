import { fieldOf, isInstance, messageOf } from "../errors/thrown.js"

/**
 * Makes an error that can be encoded from one that cannot, or from any other thrown value: of the same class,
 * with the fields that are plain values and the message of the cause. Never throws.
 */
export function plainError(thrown: unknown): Error {
  const plain = new Error(messageOf(thrown).slice(0, MOST_SAID))
  if (!isInstance(thrown, Error)) return plain
  try {
    keepCause(plain, thrown)
    for (const field of Object.keys(thrown)) keepField(plain, field, fieldOf(thrown, field))
    return Object.setPrototypeOf(plain, Object.getPrototypeOf(thrown) as object) as Error
  } catch {
    return plain
  }
}

function keepCause(plain: Error, thrown: Error): void {
  const cause = fieldOf(thrown, "cause")
  if (cause === undefined) return
  plain.cause = isPlain(cause) ? cause : new Error(messageOf(cause).slice(0, MOST_SAID))
  Object.defineProperty(plain, "cause", { enumerable: false })
}

function keepField(plain: Error, field: string, value: unknown): void {
  if (field === "message" || field === "cause" || !isPlain(value)) return
  Object.defineProperty(plain, field, { value, enumerable: true, writable: true, configurable: true })
}

function isPlain(value: unknown): boolean {
  switch (typeof value) {
    case "string":
      return value.length <= MOST_SAID
    case "bigint":
      return value < MOST_INTEGER && value > -MOST_INTEGER
    case "object":
      return value === null
    default:
      return typeof value === "number" || typeof value === "boolean"
  }
}

const MOST_SAID = 1_000
const MOST_INTEGER = 2n ** 1_000n

import type { CodecPurpose } from "../ports/codec.js"

/** Under this an object of the runtime says itself why it has no form on the wire. */
export const WHY_REFUSED: unique symbol = Symbol("why refused")

/** What is wrong with a value that has no form on the wire, and what to do about it. */
export function whyRefused(value: unknown): string {
  if (typeof value === "function") return "is a function: send data, or a ref to an actor that does the work"
  if (typeof value === "symbol") return "is a symbol: send a text"
  const own: unknown = (value as { [WHY_REFUSED]?: unknown })[WHY_REFUSED]
  if (typeof own === "string") return own
  const name = classNameOf(value as object)
  if (name === undefined) return "is an instance of a class without a name: send plain data"
  return `is an instance of class ${name}: register class ${name} in the setting types, or send plain data`
}

export const FORBIDDEN_KEY = "has the key __proto__, which could be taken for a prototype where it arrives"

export const CHANGED = "was changed while it was encoded, by a getter or an encode function of its own"

export const THREW = "could not be read: a getter or an encode function threw (see cause)"

export function tooDeep(maxDepth: number): string {
  return `is nested deeper than the ${maxDepth} levels that are allowed (maxDepth of the codec)`
}

export function tooMany(maxItems: number, what: CodecPurpose): string {
  const less = what === "state" ? "keep less in one actor" : "send less at a time"
  return `brings the ${what} above the ${maxItems} items that are allowed; ${less}, or set codec to binaryCodec({ maxItems }) with more, on all nodes`
}

/** Of what comes. */
export function tooManyToRead(maxItems: number): string {
  return `more than the ${maxItems} items that are allowed; it was encoded with a higher maxItems of the codec`
}

function classNameOf(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  const made = (prototype as { constructor?: { name?: unknown } }).constructor
  return typeof made?.name === "string" && made.name !== "" ? made.name : undefined
}

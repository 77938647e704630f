import type { CodecPurpose } from "../ports/codec.js"

/** The key under which an object of the runtime explains why it cannot be encoded. */
export const WHY_REFUSED: unique symbol = Symbol("why refused")

/** Explains why a value cannot be encoded, and what to do about it. */
export function whyRefused(value: unknown): string {
  if (typeof value === "function") return "is a function; send data, or a ref to an actor that does the work"
  if (typeof value === "symbol") return "is a symbol; send a string"
  const own: unknown = (value as { [WHY_REFUSED]?: unknown })[WHY_REFUSED]
  if (typeof own === "string") return own
  const name = classNameOf(value as object)
  if (name === undefined) return "is an instance of a class without a name; send plain data"
  return `is an instance of class ${name}; register class ${name} in the setting types, or send plain data`
}

export const FORBIDDEN_KEY = "has the key __proto__, which the receiver could take for a prototype; rename it"

export const CHANGED = "was changed while it was encoded, by a getter or an encode function"

export const THREW = "could not be read: a getter or an encode function threw (see cause)"

export function tooDeep(maxDepth: number): string {
  return `is nested deeper than maxDepth of the codec (${maxDepth} levels)`
}

export function tooMany(maxItems: number, what: CodecPurpose): string {
  const less = what === "state" ? "keep less in one actor" : "send less at a time"
  return `brings the ${what} above maxItems of the codec (${maxItems} items); ${less}, or raise it by codec: binaryCodec({ maxItems }) on all nodes`
}

/** Explains the refusal of a value that was received. */
export function tooManyToRead(maxItems: number): string {
  return `exceeds maxItems of the codec (${maxItems} items); it was encoded with a higher one`
}

function classNameOf(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  const made = (prototype as { constructor?: { name?: unknown } }).constructor
  return typeof made?.name === "string" && made.name !== "" ? made.name : undefined
}

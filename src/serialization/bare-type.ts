import { InvalidMessageError } from "../errors/call-errors.js"
import { SettingsError } from "../errors/settings-error.js"
import type { TypeOnTheWire } from "../ports/codec.js"
import { builtInAbove } from "./built-in-classes.js"
import { type ErrorFields, fieldsOf, makeError } from "./error-fields.js"
import { isSparseIndex, keepInTable } from "./index-keys.js"

/** Makes the wire type of a class without hooks: its enumerable fields are sent, and set on its prototype. */
export function bareType(name: string, type: { readonly prototype: object }): TypeOnTheWire {
  const { prototype } = type
  if (prototype instanceof Error) {
    return {
      name,
      take: (value, options): ErrorFields =>
        fieldsOf(value as Error, { keepsClass: true, all: true, stacks: options?.stacks === true }),
      make: (taken) => {
        const [hidden, shown]: unknown[] = Array.isArray(taken) ? taken : []
        return makeError(prototype, hidden, shown)
      },
    }
  }
  const builtIn = builtInAbove(prototype)
  if (builtIn !== undefined) {
    throw new SettingsError(
      "types",
      `class ${name} is or extends ${builtIn}, whose contents are not fields; register it with encode and decode`,
    )
  }
  return { name, take: (value) => ({ ...value }), make: (taken) => withFields(prototype, taken) }
}

/** Defines a field that the class has an accessor for as a data property: decoding never runs a setter. */
function withFields(prototype: object, taken: unknown): object {
  if (typeof taken !== "object" || taken === null)
    throw new InvalidMessageError("the fields of an instance must be an object")
  const made = Object.create(prototype) as Record<string, unknown>
  const fields = taken as Record<string, unknown>
  const keys = Object.keys(fields)
  if (keys.some((key) => isSparseIndex(key, keys.length))) keepInTable(made)
  for (const key of keys) {
    const value = fields[key]
    if (!(key in prototype)) made[key] = value
    else Object.defineProperty(made, key, { value, enumerable: true, writable: true, configurable: true })
  }
  return made
}

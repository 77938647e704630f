import { quoted, shownKind } from "../address/quote.js"
import { SettingsError } from "../errors/settings-error.js"

// Checks of single settings. Each throws a `SettingsError` that names the field.

export function checkDuration(field: string, value: number | undefined, fallback: number): number {
  if (value === undefined) return fallback
  if (typeof value === "number" && value > 0 && value < Number.POSITIVE_INFINITY) return value
  throw new SettingsError(field, `must be a number of milliseconds above 0 (got ${shown(value)})`)
}

export function checkInteger(
  field: string,
  value: number | undefined,
  fallback: number,
  most = Number.MAX_SAFE_INTEGER,
): number {
  if (value === undefined) return fallback
  if (Number.isSafeInteger(value) && value > 0 && value <= most) return value
  const rule = most === Number.MAX_SAFE_INTEGER ? "a positive integer" : `an integer from 1 to ${most}`
  throw new SettingsError(field, `must be ${rule} (got ${shown(value)})`)
}

/** Returns the object, which may have only these fields; an empty one if it is undefined. */
export function checkGroup<T extends object>(
  field: string,
  value: T | undefined,
  fields: readonly (keyof T & string)[],
): Partial<T> {
  if (value === undefined) return {}
  if (typeof value !== "object" || value === null) {
    throw new SettingsError(field, `must be an object (got ${shownKind(value)})`)
  }
  for (const key of Object.keys(value)) {
    if (!(fields as readonly string[]).includes(key)) {
      const known = fields.join(", ")
      throw new SettingsError(`${field}.${key}`, `there is no such setting; known settings are ${known}`)
    }
  }
  return value
}

/** The error does not show a string, which may be a secret. */
export function checkString(field: string, value: unknown): string {
  if (typeof value === "string" && value !== "") return value
  const got = value === "" ? "an empty one" : shownKind(value)
  throw new SettingsError(field, `must be a non-empty string (got ${got})`)
}

export function checkMethods(field: string, value: object | undefined, names: readonly string[]): void {
  if (value === undefined) return
  for (const name of names) {
    if (typeof (value as Record<string, unknown> | null)?.[name] !== "function") {
      throw new SettingsError(field, `must be an object with the methods ${names.join(", ")}`)
    }
  }
}

/** Returns a value for an error message. It may be any value, so it is not simply printed. */
export function shown(value: unknown): string {
  if (typeof value === "number") return String(value)
  return typeof value === "string" ? quoted(value) : shownKind(value)
}

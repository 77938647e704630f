import { SettingsError } from "../errors/settings-error.js"

// What a value must be, with an error that names the field.

export function duration(field: string, value: number | undefined, fallback: number): number {
  return number(field, value, fallback, "a number of milliseconds above 0")
}

export function number(field: string, value: number | undefined, fallback: number, what: string): number {
  if (value === undefined) return fallback
  if (typeof value === "number" && value > 0 && value < Number.POSITIVE_INFINITY) return value
  throw new SettingsError(field, `it is ${what}, not ${String(value)}`)
}

export function whole(field: string, value: number | undefined, fallback: number): number {
  const checked = number(field, value, fallback, "a whole number from 1")
  if (Number.isSafeInteger(checked)) return checked
  throw new SettingsError(field, `it is a whole number from 1, not ${checked}`)
}

/** An object that has no other fields than these; an empty one if it is not set. */
export function group<T extends object>(
  field: string,
  value: T | undefined,
  fields: readonly (keyof T & string)[],
): Partial<T> {
  if (value === undefined) return {}
  if (typeof value !== "object" || value === null) throw new SettingsError(field, "it is an object")
  for (const key of Object.keys(value)) {
    if (!(fields as readonly string[]).includes(key)) {
      throw new SettingsError(`${field}.${key}`, `there is no such setting; there are ${fields.join(", ")}`)
    }
  }
  return value
}

export function text(field: string, value: unknown): string {
  if (typeof value === "string" && value !== "") return value
  throw new SettingsError(field, "it is a text, and not empty")
}

export function methods(field: string, value: object | undefined, names: readonly string[]): void {
  if (value === undefined) return
  for (const name of names) {
    if (typeof (value as Record<string, unknown> | null)?.[name] !== "function") {
      throw new SettingsError(field, `it is an object with the methods ${names.join(", ")}`)
    }
  }
}

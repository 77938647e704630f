import { SettingsError } from "../errors/settings-error.js"
import type { MethodOptions } from "./actor-class.js"

/**
 * The options that a class, and those that it extends, give for its methods, by their names: of each option
 * the nearest class's. Throws a `SettingsError` for what is none.
 */
export function methodOptions(type: string, make: object): Map<string, MethodOptions> {
  const merged = new Map<string, MethodOptions>()
  for (const methods of methodsAlong(make)) {
    if (!isObject(methods)) throw new SettingsError("actors", `${type}.methods is an object`)
    for (const [name, options] of Object.entries(methods)) {
      const own = checked(`${type}.methods.${name}`, options)
      merged.set(name, { ...merged.get(name), ...own })
    }
  }
  return merged
}

/** The `methods` of each class that has some, the outermost first. */
function methodsAlong(make: object): unknown[] {
  const found: unknown[] = []
  for (let at: object | null = make; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    if (!Object.hasOwn(at, "methods")) continue
    const methods: unknown = Reflect.get(at, "methods")
    if (methods !== undefined) found.unshift(methods)
  }
  return found
}

function checked(place: string, options: unknown): MethodOptions {
  if (!isObject(options)) throw new SettingsError("actors", `${place} is an object`)
  for (const [name, value] of Object.entries(options)) {
    const check = checks.get(name)
    if (check === undefined) {
      throw new SettingsError(
        "actors",
        `${place} has ${JSON.stringify(name)}, which is no option of a method`,
      )
    }
    if (value !== undefined && !check.holds(value)) {
      throw new SettingsError("actors", `${place}.${name} is ${check.says}`)
    }
  }
  return options
}

interface Check {
  readonly says: string
  holds(value: unknown): boolean
}

const isFlag: Check = { says: "true or false", holds: (value) => typeof value === "boolean" }

const checks: ReadonlyMap<string, Check> = new Map<keyof MethodOptions, Check>([
  ["readOnly", isFlag],
  ["alwaysInterleave", isFlag],
  ["timeoutMs", { says: "more than 0 and finite", holds: isDuration }],
  [
    "input",
    {
      says: "a Standard Schema, or an array of them",
      holds: (value) => (Array.isArray(value) ? value.every(isSchema) : isSchema(value)),
    },
  ],
])

export function isDuration(value: unknown): boolean {
  return typeof value === "number" && value > 0 && value < Number.POSITIVE_INFINITY
}

function isSchema(value: unknown): boolean {
  if (!isObject(value) && typeof value !== "function") return false
  const standard = (value as { readonly "~standard"?: unknown } | null)?.["~standard"]
  return isObject(standard) && typeof (standard as { validate?: unknown }).validate === "function"
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null
}

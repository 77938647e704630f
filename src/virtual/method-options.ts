import { shownKind } from "../address/quote.js"
import { SettingsError } from "../errors/settings-error.js"
import type { MethodOptions } from "./actor-class.js"

/**
 * Collects the method options of a class and of the classes that it extends, by method name. An option of a
 * subclass overrides the inherited one. Throws a `SettingsError` for an invalid option.
 */
export function methodOptions(type: string, make: object): Map<string, MethodOptions> {
  const merged = new Map<string, MethodOptions>()
  for (const methods of inheritedMethods(make)) {
    if (!isObject(methods)) throw mustBe(`${type}.methods`, "an object", methods)
    for (const [name, options] of Object.entries(methods)) {
      const own = checkOptions(`${type}.methods.${name}`, options)
      merged.set(name, { ...merged.get(name), ...own })
    }
  }
  return merged
}

/** Returns the static `methods` of the class and of those that it extends, the base class first. */
function inheritedMethods(make: object): unknown[] {
  const found: unknown[] = []
  for (let at: object | null = make; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    if (!Object.hasOwn(at, "methods")) continue
    const methods: unknown = Reflect.get(at, "methods")
    if (methods !== undefined) found.unshift(methods)
  }
  return found
}

function checkOptions(place: string, options: unknown): MethodOptions {
  if (!isObject(options)) throw mustBe(place, "an object", options)
  for (const [name, value] of Object.entries(options)) {
    const check = checks.get(name)
    if (check === undefined) {
      throw new SettingsError(
        "actors",
        `${place} must not have the option ${JSON.stringify(name)}; known options are ${[...checks.keys()].join(", ")}`,
      )
    }
    if (value !== undefined && !check.isValid(value)) {
      throw mustBe(`${place}.${name}`, check.rule, value)
    }
  }
  return options
}

/** The error for an option of a class that breaks a rule. */
export function mustBe(place: string, rule: string, value: unknown): SettingsError {
  return new SettingsError("actors", `${place} must be ${rule} (got ${shownKind(value)})`)
}

interface Check {
  readonly rule: string
  isValid(value: unknown): boolean
}

const flag: Check = { rule: "true or false", isValid: (value) => typeof value === "boolean" }

const checks: ReadonlyMap<string, Check> = new Map<keyof MethodOptions, Check>([
  ["readOnly", flag],
  ["alwaysInterleave", flag],
  [
    "once",
    {
      rule: "true, false or { retainMs }",
      isValid: (value) => typeof value === "boolean" || (isObject(value) && "retainMs" in value),
    },
  ],
  ["timeoutMs", { rule: "a number of milliseconds above 0", isValid: isDuration }],
  [
    "input",
    {
      rule: "a Standard Schema, or an array of them",
      isValid: (value) => (Array.isArray(value) ? value.every(isSchema) : isSchema(value)),
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

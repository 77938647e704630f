import { shownKind } from "../address/quote.js"
import { SettingsError } from "../errors/settings-error.js"
import type { StateShape } from "../registry/state-value.js"
import { type Actor, internals } from "./actor.js"
import type { ActorClass } from "./actor-class.js"
import { keyOf } from "./input-check.js"
import { mustBe } from "./method-options.js"
import type { SchemaIssue, StandardSchema } from "./standard-schema.js"

/** What a class says of its stored state. Throws a `SettingsError` if an option is invalid. */
export function stateShapeOf(type: string, make: ActorClass): StateShape {
  const { stateVersion: version = 0, writeVersion, state: schema } = make
  if (!isVersion(version)) throw mustBe(`${type}.stateVersion`, "a non-negative integer", version)
  const isDowngraded = typeof Reflect.get(make.prototype, "downgradeState") === "function"
  if (writeVersion !== undefined) {
    if (!isVersion(writeVersion) || writeVersion > version) {
      throw mustBe(
        `${type}.writeVersion`,
        `an integer from 0 to stateVersion, which is ${version}`,
        writeVersion,
      )
    }
    if (!isDowngraded && writeVersion < version) {
      throw new SettingsError(
        "actors",
        `${type}.writeVersion needs a method downgradeState, which converts states to that version; define it`,
      )
    }
  }
  if (schema !== undefined && !isSchema(schema)) {
    throw mustBe(`${type}.state`, "a schema of Standard Schema", schema)
  }
  const problemOf = schema && ((state: unknown) => problemIn(schema, state))
  return { version, writeVersion, problemOf }
}

/** The shape of the state of one activation: what its class converts, its instance does. */
export function shapeFor(
  shape: StateShape,
  owner: {
    readonly instance: Actor | undefined
    readonly type: { readonly name: string; readonly isDowngraded: boolean }
  },
): StateShape {
  const { name, isDowngraded } = owner.type
  if (!isDowngraded) return shape
  const downgrade = (state: unknown, toVersion: number) =>
    internals.downgrade(owner.instance as Actor, state, toVersion, name)
  return { ...shape, downgrade }
}

function isVersion(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isSchema(value: unknown): value is StandardSchema {
  const standard = (value as Partial<StandardSchema> | null)?.["~standard"]
  return typeof standard?.validate === "function"
}

/** What is wrong with a state by its schema, whose result is not used: a state is checked, not converted. */
function problemIn(schema: StandardSchema, state: unknown): string | undefined {
  const result: unknown = schema["~standard"].validate(state)
  if (result instanceof Promise) {
    // Its rejection must not be reported as unhandled.
    result.catch(() => {})
    return "the schema is asynchronous; use one that is not"
  }
  if (typeof result !== "object" || result === null) {
    return `the schema must return an object (got ${shownKind(result)})`
  }
  const { issues } = result as { readonly issues?: unknown }
  if (issues === undefined) return undefined
  return Array.isArray(issues) ? issues.map(textOf).join("; ") : "the schema has issues that are no array"
}

function textOf(issue: unknown): string {
  const { message, path } = (issue ?? {}) as Partial<SchemaIssue>
  const place = Array.isArray(path) ? path.map(keyOf).join(".") : ""
  const text = typeof message === "string" ? message : "invalid value"
  return place === "" ? text : `${place}: ${text}`
}

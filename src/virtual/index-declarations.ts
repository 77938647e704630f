import { quoted } from "../address/quote.js"
import { SettingsError } from "../errors/settings-error.js"
import type { ActorClass, IndexOptions } from "./actor-class.js"
import type { IndexDeclaration } from "./index-entries.js"
import { mustBe } from "./method-options.js"

/** The indexes of a class, by name. Throws a `SettingsError` if one of its options is invalid. */
export function indexesOf(type: string, make: ActorClass): readonly IndexDeclaration[] {
  const { indexes } = make
  if (indexes === undefined) return NONE
  if (typeof indexes !== "object" || indexes === null) throw mustBe(`${type}.indexes`, "an object", indexes)
  const declared = Object.entries(indexes).map(([name, options]) => declarationOf(type, name, options))
  if (declared.length > MOST_INDEXES) {
    throw new SettingsError(
      "actors",
      `${type}.indexes must have at most ${MOST_INDEXES} indexes (got ${declared.length})`,
    )
  }
  if (declared.length > 0 && make.durable === false) {
    throw new SettingsError("actors", `${type}.indexes needs a stored state, which durable = false excludes`)
  }
  if (make.reentrant === true && declared.some(({ isUnique }) => isUnique)) {
    throw new SettingsError(
      "actors",
      `${type}.indexes must not be unique: a turn whose value is taken is undone, which reentrant = true excludes`,
    )
  }
  return declared.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function declarationOf(type: string, name: string, options: IndexOptions): IndexDeclaration {
  const place = `${type}.indexes.${name}`
  if (!/^[\w-]{1,64}$/.test(name)) {
    throw new SettingsError(
      "actors",
      `${type}.indexes must have names of 1 to 64 letters, digits, "_" and "-" (got ${quoted(name)})`,
    )
  }
  if (typeof options !== "object" || options === null) throw mustBe(place, "an object", options)
  for (const option of Object.keys(options)) {
    if (OPTIONS.includes(option)) continue
    throw new SettingsError(
      "actors",
      `${place} must not have the option ${quoted(option)}; known options are ${OPTIONS.join(", ")}`,
    )
  }
  const { of, unique = false, version = 0 } = options
  if (typeof of !== "function") throw mustBe(`${place}.of`, "a function", of)
  if (typeof unique !== "boolean") throw mustBe(`${place}.unique`, "true or false", unique)
  if (!Number.isSafeInteger(version) || version < 0) {
    throw mustBe(`${place}.version`, "a non-negative integer", version)
  }
  return { name, version, isUnique: unique, of: (state) => of(state as never) }
}

const NONE: readonly IndexDeclaration[] = []
const MOST_INDEXES = 16
const OPTIONS: readonly string[] = ["of", "unique", "version"]

import { quoted } from "../address/quote.js"
import { SettingsError } from "../errors/settings-error.js"
import type { TypeNames, TypeOnTheWire } from "../ports/codec.js"
import { bareType } from "./bare-type.js"
import { travelsAnyway } from "./built-in-classes.js"

// biome-ignore lint/suspicious/noExplicitAny: a class with whatever constructor it has
type Class<T extends object = any> = abstract new (...args: never[]) => T

/**
 * A class whose instances may be sent. Without hooks, the enumerable fields are sent, and the receiver sets
 * them on an object of that class without running its constructor. A class with `#private` fields, or one
 * that extends a built-in class, needs `encode`, which returns what is sent, and `decode`, which makes the
 * instance.
 *
 * The name on the wire is `name`, or the `static readonly type` of the class if that is a string, or the
 * name of the class.
 */
// biome-ignore lint/suspicious/noExplicitAny: the classes of one list have nothing in common
export type WireType<T extends object = any> =
  | Class<T>
  | {
      readonly type: Class<T>
      readonly name?: string
      encode(value: T): unknown
      // biome-ignore lint/suspicious/noExplicitAny: what `encode` gave, which its author knows
      decode(taken: any): T
    }

/** The classes of the setting `types`. */
export class TypeRegistry implements TypeNames {
  readonly #byName = new Map<string, TypeOnTheWire>()
  readonly #byPrototype = new Map<object, TypeOnTheWire>()

  constructor(types: readonly WireType[]) {
    for (const type of types) this.#add(type)
  }

  named(name: string): TypeOnTheWire | undefined {
    return this.#byName.get(name)
  }

  of(value: object): TypeOnTheWire | undefined {
    return this.#byPrototype.get(Object.getPrototypeOf(value))
  }

  #add(wireType: WireType): void {
    const type = typeof wireType === "function" ? wireType : wireType?.type
    if (!isClass(type)) throw refused(`must contain classes (got ${shown(type)})`)
    const name = (typeof wireType === "function" ? undefined : wireType.name) ?? nameOf(type)
    if (typeof name !== "string" || name === "")
      throw refused("a class without a name needs a name; set static readonly type")
    if (this.#byName.has(name)) {
      throw refused(`two classes have the name ${quoted(name)}; set static readonly type on one of them`)
    }
    if (travelsAnyway(type.prototype)) throw refused(`${name} is sent without registration; remove it`)
    if (this.#byPrototype.has(type.prototype)) throw refused(`class ${name} is registered twice`)
    const onTheWire = typeof wireType === "function" ? bareType(name, type) : hooked(name, wireType)
    this.#byName.set(name, onTheWire)
    this.#byPrototype.set(type.prototype, onTheWire)
  }
}

function hooked(name: string, hooks: Exclude<WireType, Class>): TypeOnTheWire {
  if (typeof hooks.encode !== "function" || typeof hooks.decode !== "function") {
    throw refused(`class ${name} must have both encode and decode as functions, or neither`)
  }
  return { name, take: (value) => hooks.encode(value), make: (taken) => hooks.decode(taken) }
}

function isClass(type: unknown): type is Class<object> {
  return typeof type === "function" && typeof type.prototype === "object" && type.prototype !== null
}

function nameOf(type: Class): unknown {
  const given: unknown = (type as { type?: unknown }).type
  return typeof given === "string" ? given : type.name
}

function shown(value: unknown): string {
  return typeof value === "function" ? `function ${value.name}` : typeof value
}

function refused(problem: string): SettingsError {
  return new SettingsError("types", problem)
}

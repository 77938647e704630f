import { quoted } from "../address/quote.js"
import { SettingsError } from "../errors/settings-error.js"
import type { TypeNames, TypeOnTheWire } from "../ports/codec.js"
import { bareType } from "./bare-type.js"
import { travelsAnyway } from "./built-in-classes.js"

// biome-ignore lint/suspicious/noExplicitAny: a class with whatever constructor it has
type Class<T extends object = any> = abstract new (...args: never[]) => T

/**
 * A class whose instances may be sent. By itself: its enumerable fields travel, and where they arrive an
 * object of that class gets them, whose constructor does not run. A class with `#private` fields, or one that
 * extends a class of the language, says by `encode` what is sent and by `decode` what becomes of it.
 *
 * Its name on the way is `name`, or the class's `static readonly type` if that is a text, or the class's own
 * name.
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
    if (!isClass(type)) throw refused(`${shown(type)} is not a class`)
    const name = (typeof wireType === "function" ? undefined : wireType.name) ?? nameOf(type)
    if (typeof name !== "string" || name === "")
      throw refused("a class without a name needs one to travel by")
    if (this.#byName.has(name)) {
      throw refused(`two classes have the name ${quoted(name)}: give one another by static readonly type`)
    }
    if (travelsAnyway(type.prototype)) throw refused(`${name} needs no registering, it travels as it is`)
    if (this.#byPrototype.has(type.prototype)) throw refused(`class ${name} is there twice`)
    const onTheWire = typeof wireType === "function" ? bareType(name, type) : hooked(name, wireType)
    this.#byName.set(name, onTheWire)
    this.#byPrototype.set(type.prototype, onTheWire)
  }
}

function hooked(name: string, hooks: Exclude<WireType, Class>): TypeOnTheWire {
  if (typeof hooks.encode !== "function" || typeof hooks.decode !== "function") {
    throw refused(`class ${name} needs encode and decode, both functions, or neither`)
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

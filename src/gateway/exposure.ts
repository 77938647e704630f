import { shownKind } from "../address/quote.js"
import { SettingsError } from "../errors/settings-error.js"
import type { ActorType } from "../virtual/actor-type.js"
import type { Principal } from "../virtual/principal.js"

/**
 * What a gateway lets through: the methods that its `expose` names, and no others.
 *
 * The names are copied into maps, where a look-up finds what was named and nothing that an object inherits:
 * in the object of the settings `constructor` and `__proto__` would be found too. Whether the class has the
 * method is the runtime's to decide when it is called, as for every call; here it is checked once, so that a
 * mistake in `expose` fails at start and not in production.
 *
 * Exposing everything that is not hidden would be less to write. It was rejected because the next method
 * that somebody adds to a class would be public without anybody deciding so.
 */
export class Exposure<P extends Principal> {
  readonly #types: ReadonlyMap<string, ReadonlyMap<string, ExposedMethod<P>>>

  /** `types`: those that the system hosts. Throws a `SettingsError` that names the method. */
  constructor(expose: ExposedTypes<P>, types: ReadonlyMap<string, ActorType>) {
    this.#types = new Map(
      entriesOf("expose", expose).map(([type, methods]) => [type, methodsOf(type, methods, types.get(type))]),
    )
  }

  /** Returns undefined for what is not exposed. */
  find(type: string, method: string): ExposedMethod<P> | undefined {
    return this.#types.get(type)?.get(method)
  }

  /** All that is exposed, by type. */
  *[Symbol.iterator](): Generator<readonly [type: string, methods: Iterable<string>]> {
    for (const [type, methods] of this.#types) yield [type, methods.keys()]
  }
}

/**
 * The methods that a gateway exposes, by the names of types and methods. A type with `{}` exposes nothing.
 */
export type ExposedTypes<P extends Principal = Principal> = Readonly<Record<string, ExposedMethods<P>>>

/** The methods of one type that a gateway exposes, by name. */
export type ExposedMethods<P extends Principal = Principal> = Readonly<Record<string, ExposedMethod<P>>>

/** `true`, or who may call the method. */
export type ExposedMethod<P extends Principal = Principal> =
  | true
  | {
      /** Whether the principal may make this call. */
      allow(principal: P, call: ExposedCall): boolean | Promise<boolean>
    }

/** A call that somebody outside asks for. The arguments are theirs: nothing has checked them yet. */
export interface ExposedCall {
  /** The type of the actor. */
  readonly type: string
  /** The key of the actor. */
  readonly key: string
  /** The method. */
  readonly method: string
  /** The arguments. */
  readonly args: readonly unknown[]
}

function methodsOf<P extends Principal>(
  type: string,
  methods: ExposedMethods<P>,
  hosted: ActorType | undefined,
): ReadonlyMap<string, ExposedMethod<P>> {
  const entries = entriesOf(`expose.${type}`, methods)
  for (const [name, exposed] of entries) {
    const field = `expose.${type}.${name}`
    if (name.startsWith("_") || name.startsWith("~"))
      throw new SettingsError(field, "must be a callable method")
    if (hosted !== undefined && hosted.method(name) === undefined) {
      throw new SettingsError(field, `must be a callable method: ${hosted.unknownMethod(name).message}`)
    }
    if (exposed !== true && !isGuarded(exposed)) {
      throw new SettingsError(field, `must be true or { allow } (got ${shownKind(exposed)})`)
    }
  }
  return new Map(entries)
}

function isGuarded(exposed: unknown): boolean {
  if (typeof exposed !== "object" || exposed === null) return false
  const fields = Object.keys(exposed)
  return fields.length === 1 && typeof (exposed as { allow?: unknown }).allow === "function"
}

function entriesOf<T>(field: string, value: Readonly<Record<string, T>>): [string, T][] {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return Object.entries(value)
  throw new SettingsError(field, `must be an object (got ${shownKind(value)})`)
}

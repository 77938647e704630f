import { shownKind } from "../address/quote.js"
import { UnknownMethodError } from "../errors/actor-call-errors.js"
import { SettingsError } from "../errors/settings-error.js"
import { ShardedPlacement } from "../placement/sharded.js"
import type { PlacementStrategy } from "../placement/strategies.js"
import type { StateShape } from "../registry/state-value.js"
import { ALWAYS_INTERLEAVE, READ_ONLY } from "../serialization/envelope.js"
import { Actor } from "./actor.js"
import type { ActorClass, MethodOptions } from "./actor-class.js"
import { type Durability, durabilityOf, onceOf } from "./durability.js"
import { isFunctionField } from "./function-field.js"
import { indexesOf } from "./index-declarations.js"
import type { IndexDeclaration } from "./index-entries.js"
import { internalMethod } from "./internal-methods.js"
import { isDuration, methodOptions, mustBe } from "./method-options.js"
import type { ProvidedActor, RegisteredActor } from "./provide.js"
import type { StandardSchema } from "./standard-schema.js"
import { stateShapeOf } from "./state-shape.js"
import { TypeFigures } from "./type-figures.js"

/** The description of a registered class: its options, and its callable methods. */
export class ActorType {
  readonly name: string
  readonly make: ActorClass
  readonly reentrant: boolean
  readonly idleAfterMs: number | undefined
  readonly mailboxCapacity: number | undefined
  readonly stateShape: StateShape
  /** Whether the class converts states to earlier versions. */
  readonly isDowngraded: boolean
  readonly durability: Durability
  /** In the order of their names. */
  readonly indexes: readonly IndexDeclaration[]
  /** Whether a commit may be rejected, as another actor has a unique value. */
  readonly mayBeRejected: boolean
  readonly placement: PlacementStrategy | undefined
  readonly figures = new TypeFigures()
  /** Undefined if each actor of the type has a placement of its own. */
  readonly sharding: ShardedPlacement | undefined
  /** Whether turns of one actor may run concurrently. */
  readonly mayOverlap: boolean
  /** A `Map`, so that a lookup never finds a property of `Object.prototype`. */
  readonly #methods: ReadonlyMap<string, ActorMethod>
  /** Undefined if the class was registered without dependencies. */
  readonly #provided: ProvidedActor | undefined

  /** Throws a `SettingsError` if the class or one of its options is invalid. */
  constructor(registered: RegisteredActor) {
    const provided = isProvided(registered) ? registered : undefined
    const make = provided === undefined ? (registered as ActorClass) : provided.actor
    if (typeof make !== "function" || !(make.prototype instanceof Actor)) {
      throw new SettingsError(
        "actors",
        `must contain only classes that extend Actor, or results of provide (got ${shownKind(make)})`,
      )
    }
    this.#provided = provided
    this.name = make.type ?? make.name
    if (typeof this.name !== "string" || !/^[\w.-]+$/.test(this.name)) {
      throw new SettingsError(
        "actors",
        `the name of a type must consist of letters, digits, ".", "_" and "-" (got ${JSON.stringify(this.name)}); set static type`,
      )
    }
    this.make = make
    this.reentrant = make.reentrant ?? false
    this.idleAfterMs = make.idleAfterMs
    this.mailboxCapacity = make.mailboxCapacity
    this.stateShape = stateShapeOf(this.name, make)
    this.isDowngraded = Reflect.has(make.prototype, "downgradeState")
    if (this.idleAfterMs !== undefined && !isDuration(this.idleAfterMs)) {
      throw mustBe(`${this.name}.idleAfterMs`, "a number of milliseconds above 0", this.idleAfterMs)
    }
    if (this.mailboxCapacity !== undefined && !isCapacity(this.mailboxCapacity)) {
      throw mustBe(`${this.name}.mailboxCapacity`, "a positive integer", this.mailboxCapacity)
    }
    if (typeof this.reentrant !== "boolean") {
      throw mustBe(`${this.name}.reentrant`, "true or false", this.reentrant)
    }
    this.durability = durabilityOf(this.name, make)
    this.indexes = indexesOf(this.name, make)
    this.mayBeRejected = this.indexes.some(({ isUnique }) => isUnique)
    const { placement } = make
    if (
      placement !== undefined &&
      typeof placement !== "function" &&
      !(placement instanceof ShardedPlacement)
    ) {
      throw mustBe(`${this.name}.placement`, "a function, such as rendezvous, or sharded()", placement)
    }
    for (const hook of ["initialState", "upgradeState", "downgradeState"]) {
      if (!isAsync(Reflect.get(make.prototype, hook))) continue
      throw new SettingsError(
        "actors",
        `${this.name}.${hook} must not be async; return the state itself, and await in onActivate()`,
      )
    }
    this.placement = typeof placement === "function" ? placement : undefined
    this.sharding = typeof placement === "function" ? undefined : placement
    this.#methods = methodsOf(make, this.name)
    this.mayOverlap = this.reentrant || [...this.#methods.values()].some(({ flags }) => flags !== 0)
  }

  /** What the class was registered with. Throws a `SettingsError` if it was registered without `provide`. */
  get dependencies(): unknown {
    if (this.#provided !== undefined) return this.#provided.dependencies
    const { name } = this.make
    throw new SettingsError(
      "actors",
      `must contain provide(${name}, dependencies) instead of ${name}, which reads this.dependencies`,
    )
  }

  get stateVersion(): number {
    return this.stateShape.version
  }

  get methodNames(): Iterable<string> {
    return this.#methods.keys()
  }

  /** The names of those that are `once`. */
  get onceMethods(): readonly string[] {
    return [...this.#methods.values()].filter(({ once }) => once !== undefined).map(({ name }) => name)
  }

  method(name: string): ActorMethod | undefined {
    return this.#methods.get(name)
  }

  /** As `method`, and the methods that only the runtime calls. */
  runnable(name: string): ActorMethod | undefined {
    return this.#methods.get(name) ?? (this.durability.isDurable ? internalMethod(name) : undefined)
  }

  /** The error of a call to a method that the class does not have. */
  unknownMethod(name: string): UnknownMethodError {
    const problem = isFunctionField(this.make, name)
      ? `${this.name}.${name} is a field; write it as a method`
      : undefined
    return new UnknownMethodError(this.name, name, problem)
  }
}

export interface ActorMethod {
  readonly name: string
  readonly run: (...args: unknown[]) => unknown
  /** `READ_ONLY`, `ALWAYS_INTERLEAVE`, or neither. */
  readonly flags: number
  /** Tells the methods of a type apart, whatever their order is. */
  readonly tag: number
  /** Undefined if calls of the method may be applied twice. */
  readonly once: { readonly retainMs: number } | undefined
  readonly timeoutMs: number | undefined
  readonly input: readonly StandardSchema[] | undefined
}

/** The classes are functions, so any other object with these fields is a result of `provide`. */
function isProvided(registered: RegisteredActor): registered is ProvidedActor {
  return (
    typeof registered === "object" &&
    registered !== null &&
    Object.hasOwn(registered, "actor") &&
    Object.hasOwn(registered, "dependencies")
  )
}

function isCapacity(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

/**
 * Whether the method is declared as async. A method that returns a promise otherwise is detected when it is
 * called.
 */
function isAsync(method: unknown): boolean {
  return typeof method === "function" && Object.prototype.toString.call(method) === "[object AsyncFunction]"
}

/**
 * Collects the callable methods of a class and of those that it extends. An override hides the method it
 * replaces.
 */
function methodsOf(make: ActorClass, type: string): ReadonlyMap<string, ActorMethod> {
  const options = methodOptions(type, make)
  const methods = new Map<string, ActorMethod>()
  const seen = new Set<string>(
    [Actor.prototype, Object.prototype].flatMap((prototype) => Object.getOwnPropertyNames(prototype)),
  )
  for (let at: object = make.prototype; at !== Actor.prototype; at = Object.getPrototypeOf(at) as object) {
    for (const name of Object.getOwnPropertyNames(at)) {
      if (MEMBERS.has(name)) {
        throw new SettingsError(
          "actors",
          `${type} must not have its own ${name}, which every actor has; rename it`,
        )
      }
      if (seen.has(name)) continue
      seen.add(name)
      const run: unknown = Object.getOwnPropertyDescriptor(at, name)?.value
      if (typeof run !== "function" || name.startsWith("_") || HOOKS.has(name)) continue
      if (FORBIDDEN_METHODS.has(name)) {
        throw new SettingsError(
          "actors",
          `${type} must not have a method ${name}; awaiting or printing a handle would call it`,
        )
      }
      const once = onceOf(`${type}.${name}`, options.get(name) ?? {}, make)
      methods.set(name, method(name, run as ActorMethod["run"], once, options.get(name)))
      options.delete(name)
    }
  }
  for (const name of options.keys()) {
    throw new SettingsError(
      "actors",
      `${type}.methods must name only callable methods (got ${JSON.stringify(name)})`,
    )
  }
  return methods
}

/** Hooks, and methods that a class may extend. */
const OVERRIDABLE = new Set([
  "constructor",
  "initialState",
  "onActivate",
  "onDeactivate",
  "onReminder",
  "save",
  "deactivate",
])

/**
 * The members of `Actor` that a class must not replace: its own method of that name could not be called, and
 * would break what the runtime does with the member. TypeScript refuses most of these already.
 */
const MEMBERS = new Set(Object.getOwnPropertyNames(Actor.prototype).filter((name) => !OVERRIDABLE.has(name)))

/** Hooks that `Actor.prototype` does not have, because they are optional. */
const HOOKS = new Set(["upgradeState", "downgradeState", "onUndelivered"])

/** `await` and `JSON.stringify` would call these methods of a handle, and so call the actor. */
const FORBIDDEN_METHODS = new Set(["then", "toJSON"])

function method(
  name: string,
  run: ActorMethod["run"],
  once: ActorMethod["once"],
  options: MethodOptions = {},
): ActorMethod {
  const { readOnly, alwaysInterleave, timeoutMs, input } = options
  return {
    name,
    run,
    flags:
      (readOnly === true ? READ_ONLY : 0) | (alwaysInterleave === true ? ALWAYS_INTERLEAVE | READ_ONLY : 0),
    tag: tagOf(name),
    once,
    timeoutMs,
    input: input === undefined ? undefined : "~standard" in input ? [input] : input,
  }
}

function tagOf(name: string): number {
  let tag = 0x811c9dc5
  for (let at = 0; at < name.length; at += 1) tag = Math.imul(tag ^ name.charCodeAt(at), 0x01000193)
  return (tag ^ (tag >>> 16)) & 0xffff
}

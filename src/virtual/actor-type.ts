import { SettingsError } from "../errors/settings-error.js"
import type { PlacementStrategy } from "../placement/strategies.js"
import type { StateShape } from "../registry/state-value.js"
import { ALWAYS_INTERLEAVE, READ_ONLY } from "../serialization/envelope.js"
import { Actor } from "./actor.js"
import type { ActorClass, MethodOptions } from "./actor-class.js"
import { isDuration, methodOptions } from "./method-options.js"
import type { StandardSchema } from "./standard-schema.js"

/** A registered class, read once: what can be called, and how. */
export class ActorType {
  readonly name: string
  readonly make: ActorClass
  readonly reentrant: boolean
  readonly idleAfterMs: number | undefined
  readonly mailboxCapacity: number | undefined
  readonly stateVersion: number
  readonly stateShape: StateShape
  readonly placement: PlacementStrategy | undefined
  /** Whether turns of one actor may overlap. */
  readonly mayOverlap: boolean
  /** A `Map`, so that no name from anybody's prototype is found. */
  readonly #methods: ReadonlyMap<string, ActorMethod>

  /** Throws a `SettingsError`. */
  constructor(make: ActorClass) {
    if (typeof make !== "function" || !(make.prototype instanceof Actor)) {
      throw new SettingsError("actors", "each is a class that extends Actor")
    }
    this.name = make.type ?? make.name
    if (typeof this.name !== "string" || !/^[\w.-]+$/.test(this.name)) {
      throw new SettingsError("actors", `${JSON.stringify(this.name)} is no name of a type; set static type`)
    }
    this.make = make
    this.reentrant = make.reentrant ?? false
    this.idleAfterMs = make.idleAfterMs
    this.mailboxCapacity = make.mailboxCapacity
    this.stateVersion = make.stateVersion ?? 0
    if (!Number.isSafeInteger(this.stateVersion) || this.stateVersion < 0) {
      throw new SettingsError("actors", `${this.name}: stateVersion is a whole number from 0`)
    }
    if (this.idleAfterMs !== undefined && !isDuration(this.idleAfterMs)) {
      throw new SettingsError("actors", `${this.name}: idleAfterMs is more than 0 and finite`)
    }
    if (this.mailboxCapacity !== undefined && !isCapacity(this.mailboxCapacity)) {
      throw new SettingsError("actors", `${this.name}: mailboxCapacity is a whole number from 1`)
    }
    if (typeof this.reentrant !== "boolean") {
      throw new SettingsError("actors", `${this.name}: reentrant is true or false`)
    }
    if (make.placement !== undefined && typeof make.placement !== "function") {
      throw new SettingsError("actors", `${this.name}: placement is a function, such as rendezvous`)
    }
    for (const hook of ["initialState", "upgradeState"]) {
      if (!isAsync(Reflect.get(make.prototype, hook))) continue
      throw new SettingsError(
        "actors",
        `${this.name}.${hook} is async; return the state itself, and await in onActivate()`,
      )
    }
    this.stateShape = { version: this.stateVersion }
    this.placement = make.placement
    this.#methods = methodsOf(make, this.name)
    this.mayOverlap = this.reentrant || [...this.#methods.values()].some(({ flags }) => flags !== 0)
  }

  get methodNames(): Iterable<string> {
    return this.#methods.keys()
  }

  method(name: string): ActorMethod | undefined {
    return this.#methods.get(name)
  }
}

export interface ActorMethod {
  readonly name: string
  readonly run: (...args: unknown[]) => unknown
  /** `READ_ONLY`, `ALWAYS_INTERLEAVE`, or neither. */
  readonly flags: number
  readonly timeoutMs: number | undefined
  readonly input: readonly StandardSchema[] | undefined
}

function isCapacity(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

/** One that merely returns a promise is found when it is called. */
function isAsync(method: unknown): boolean {
  return typeof method === "function" && Object.prototype.toString.call(method) === "[object AsyncFunction]"
}

/** The nearest class wins, as it does in a call. */
function methodsOf(make: ActorClass, type: string): ReadonlyMap<string, ActorMethod> {
  const options = methodOptions(type, make)
  const methods = new Map<string, ActorMethod>()
  const seen = new Set<string>(
    [Actor.prototype, Object.prototype].flatMap((prototype) => Object.getOwnPropertyNames(prototype)),
  )
  for (let at: object = make.prototype; at !== Actor.prototype; at = Object.getPrototypeOf(at) as object) {
    for (const name of Object.getOwnPropertyNames(at)) {
      if (seen.has(name)) continue
      seen.add(name)
      const run: unknown = Object.getOwnPropertyDescriptor(at, name)?.value
      if (typeof run !== "function" || name.startsWith("_") || HOOKS.has(name)) continue
      if (NO_METHODS.has(name)) {
        throw new SettingsError("actors", `${type} has a method ${name}, which handles cannot have: ${WHY}`)
      }
      methods.set(name, method(name, run as ActorMethod["run"], options.get(name)))
      options.delete(name)
    }
  }
  for (const name of options.keys()) {
    throw new SettingsError(
      "actors",
      `${type}.methods names ${JSON.stringify(name)}, which is no method of it that can be called`,
    )
  }
  return methods
}

/** Not on `Actor.prototype`, since it may be missing. */
const HOOKS = new Set(["upgradeState"])

/** Promises, and `JSON.stringify`, would call these on every handle that comes their way. */
const NO_METHODS = new Set(["then", "toJSON"])
const WHY = "to await one, or to print it, would call the actor"

function method(name: string, run: ActorMethod["run"], options: MethodOptions = {}): ActorMethod {
  const { readOnly, alwaysInterleave, timeoutMs, input } = options
  return {
    name,
    run,
    flags:
      (readOnly === true ? READ_ONLY : 0) | (alwaysInterleave === true ? ALWAYS_INTERLEAVE | READ_ONLY : 0),
    timeoutMs,
    input: input === undefined ? undefined : "~standard" in input ? [input] : input,
  }
}

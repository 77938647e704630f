import type { PlacementStrategy } from "../placement/strategies.js"
import type { Actor } from "./actor.js"
import type { RegisteredActor } from "./provide.js"
import type { StandardSchema } from "./standard-schema.js"

/** A class of actors, which the setting `actors` registers. */
export interface ActorClass<A extends Actor = Actor> {
  new (): A
  /** The name of the class. */
  readonly name: string
  /** The prototype, whose methods can be called. */
  readonly prototype: A
  /**
   * The name of the type in the cluster. The default is the name of the class; set it if a minifier is used.
   */
  readonly type?: string
  /** Options of the methods, by name (default none). A subclass inherits them, and may override each. */
  readonly methods?: Readonly<Record<string, MethodOptions>>
  /**
   * Whether a call that returns to the actor through a chain of calls may interleave with the turn that waits
   * for it (default false).
   */
  readonly reentrant?: boolean
  /** How long the actor stays active without being used. The default is the system's `idleAfterMs`. */
  readonly idleAfterMs?: number
  /** The number of messages that may wait for the actor. The default is the system's `mailboxCapacity`. */
  readonly mailboxCapacity?: number
  /**
   * The version of the saved state (default 0). States that were saved by lower versions are converted by
   * `upgradeState`.
   */
  readonly stateVersion?: number
  /** How the node for a new activation is chosen. The default is `rendezvous`. */
  readonly placement?: PlacementStrategy
}

/** The options of a method. */
export interface MethodOptions {
  /**
   * The method does not change the state: its turns may run concurrently with those of other read-only
   * methods, and cannot save. Default false.
   */
  readonly readOnly?: boolean
  /**
   * The method does not change the state: its turns may run concurrently with all others, and cannot save.
   * Default false.
   */
  readonly alwaysInterleave?: boolean
  /**
   * How long callers wait for the method, and after which time a running turn is reported as overdue. The
   * default is the system's `requestTimeoutMs`.
   */
  readonly timeoutMs?: number
  /**
   * The schema of the argument, or an array with one schema per argument. The method gets the results.
   * Default: arguments are not validated.
   */
  readonly input?: StandardSchema | readonly StandardSchema[]
}

/**
 * Checks registered classes: each key of `methods` must be a callable method of the class, and each value
 * must have only options of methods. The class declaration cannot check this itself, because the type of the
 * class is not known inside its own static members.
 */
export type CheckedActors<Classes extends readonly RegisteredActor[]> = {
  readonly [Index in keyof Classes]: Classes[Index] extends CheckedClass<Classes[Index]>
    ? Classes[Index]
    : CheckedClass<Classes[Index]>
}

type CheckedClass<Class> = Class extends { readonly methods: infer Methods; new (): infer A extends Actor }
  ? { readonly methods: CheckedMethods<Methods, A>; new (): A }
  : Class

type CheckedMethods<Methods, A extends Actor> = string extends keyof Methods
  ? Methods
  : {
      readonly [Name in keyof Methods]: Name extends CallableNames<A>
        ? CheckedOptions<Methods[Name]>
        : `${Name & string} is not a callable method`
    }

type CheckedOptions<Options> = {
  readonly [Name in keyof Options]: Name extends keyof MethodOptions
    ? MethodOptions[Name]
    : `${Name & string} is not an option of methods`
}

/** The handle that callers of an actor use: its callable methods, each of which returns a promise. */
export type ActorHandle<A extends Actor> = {
  readonly [Name in CallableNames<A>]: A[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never
}

/**
 * The names of the methods that can be called. Hooks are protected, so `keyof` does not include them. Names
 * that begin with `_`, methods of every object, `then` and `toJSON` are excluded.
 */
type CallableNames<A extends Actor> = {
  [Name in keyof A]: Name extends `_${string}` | NeverCalled
    ? never
    : A[Name] extends (...args: never[]) => unknown
      ? Name
      : never
}[keyof A] &
  string

type NeverCalled =
  | "constructor"
  | "hasOwnProperty"
  | "isPrototypeOf"
  | "propertyIsEnumerable"
  | "toLocaleString"
  | "toString"
  | "valueOf"
  | "then"
  | "toJSON"

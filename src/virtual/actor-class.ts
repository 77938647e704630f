import type { PlacementStrategy } from "../placement/strategies.js"
import type { Actor } from "./actor.js"
import type { StandardSchema } from "./standard-schema.js"

/** A class of actors, as it is registered in the setting `actors`. */
export interface ActorClass<A extends Actor = Actor> {
  new (): A
  readonly name: string
  readonly prototype: A
  /**
   * What it is called in the cluster: the class's name, unless set. Set it where a minifier renames classes.
   */
  readonly type?: string
  /**
   * Options of its methods, by their names. Those of a class that it extends hold too, unless it sets them
   * otherwise.
   */
  readonly methods?: Readonly<Record<string, MethodOptions>>
  /** Whether a call that comes back through a chain of calls is let in between. No, unless set. */
  readonly reentrant?: boolean
  /** The system's `idleAfterMs` unless set. */
  readonly idleAfterMs?: number
  /** The system's `mailboxCapacity` unless set. */
  readonly mailboxCapacity?: number
  /** 0 unless set. Higher ones read what lower ones saved, through `upgradeState`. */
  readonly stateVersion?: number
  /** `rendezvous` unless set. */
  readonly placement?: PlacementStrategy
}

/** How a method is called. */
export interface MethodOptions {
  /** It changes nothing, may overlap with others that change nothing, and cannot save. */
  readonly readOnly?: boolean
  /** It changes nothing, may overlap with anything, and cannot save. */
  readonly alwaysInterleave?: boolean
  /** How long its callers wait, and how long a turn of it may take before that is reported. */
  readonly timeoutMs?: number
  /**
   * What its argument must be; or its arguments, if this is an array. The method gets the validated values.
   */
  readonly input?: StandardSchema | readonly StandardSchema[]
}

/**
 * Classes as they are registered: the keys of each `methods` are methods of the class that can be called, and
 * what stands there are options of methods. A class cannot check this where it is written, for what its
 * static members say of it is not known there yet.
 */
export type CheckedActors<Classes extends readonly ActorClass[]> = {
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
        : `there is no method ${Name & string} that can be called`
    }

type CheckedOptions<Options> = {
  readonly [Name in keyof Options]: Name extends keyof MethodOptions
    ? MethodOptions[Name]
    : `there is no option ${Name & string} of a method`
}

/** What callers of an actor have: its own methods, each with its result as a promise. */
export type ActorHandle<A extends Actor> = {
  readonly [Name in CallableNames<A>]: A[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never
}

/**
 * Hooks and the like are protected, so they are not among the keys; what begins with `_` cannot be called,
 * nor what every object has, nor what would make a handle a promise.
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

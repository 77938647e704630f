import type { ShardedPlacement } from "../placement/sharded.js"
import type { PlacementStrategy } from "../placement/strategies.js"
import type { Actor } from "./actor.js"
import type { StandardSchema } from "./standard-schema.js"
import type { ObjectMethod } from "./unsendable.js"

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
  /**
   * The highest version in which states are saved (default `stateVersion`), so that code of that version
   * can still take over. It needs `downgradeState`, with which an earlier version is saved in any case while
   * nodes are active that know no later one.
   */
  readonly writeVersion?: number
  /**
   * The schema of the saved state, which must not be asynchronous. A stored state that does not fit, after
   * its upgrade, is a `StateError`; unless `NODE_ENV` is `production`, so is one that is saved. States are
   * checked, and not converted. Default: states are not checked.
   */
  readonly state?: StandardSchema
  /**
   * Whether all methods that are not `readOnly` or `alwaysInterleave` are `once` (default false).
   */
  readonly once?: boolean
  /**
   * Whether actors of the type have a stored state (default true). If not, nothing of them is ever saved, and
   * each activation begins with `initialState`.
   */
  readonly durable?: boolean
  /**
   * Whether the state in memory is restored after any turn that throws (default false): to what it was when
   * the turn began, or at its last `save`. Turns of `once` methods restore it in any case.
   */
  readonly restoreOnThrow?: boolean
  /**
   * Whether turns run while earlier turns of `once` methods are being stored (default true). Their answers
   * wait in any case. Set it to false if turns have effects outside Troupe that must wait too.
   */
  readonly pipelining?: boolean
  /**
   * The number of operations, named by callers, that an actor remembers at a time (default 100,000). Further
   * ones are refused with an `OverloadedError`.
   */
  readonly maxOperations?: number
  /**
   * Indexes over the state, by name (default none): at most 16, of letters, digits, `_` and `-`. The entries
   * of an actor change in the commits of its state, and `system.find` reads them.
   */
  readonly indexes?: Readonly<Record<string, IndexOptions>>
  /**
   * After how long an actor is destroyed that was not saved: its state, its reminders, and all else that is
   * stored of it. Default never.
   */
  readonly expireAfterMs?: number
  /**
   * How the node for a new activation is chosen, or `sharded()` for very many actors. The default is
   * `rendezvous`.
   */
  readonly placement?: PlacementStrategy | ShardedPlacement
}

/** The options of an index. */
export interface IndexOptions {
  /**
   * Returns the value of an actor from its state, or undefined or null if it is not in the index. It must
   * always return the same for the same state. A commit is refused with a `StateError` if it throws, or
   * returns something else than a string, a finite number, a bigint, a boolean, a date, or an array of these.
   * A value must have at most 512 characters as it is written in keys.
   */
  readonly of: (state: never) => unknown
  /**
   * Whether at most one actor of the type can have a value (default false). A turn or a save that takes the
   * value of another actor fails with a `NotUniqueError`, and what it has changed is undone.
   */
  readonly unique?: boolean
  /** Raise it when `of` changes (default 0): the index is then built again. */
  readonly version?: number
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
   * Each call of the method is applied once: its turn is stored before the answer leaves, all of it or
   * nothing, and the call is repeated under the same operation if its outcome is unknown. `retainMs` is how
   * long operations that callers name are remembered: a day, unless it is set. Default false.
   */
  readonly once?: boolean | { readonly retainMs: number }
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
 * The handle that callers of an actor use: its callable methods, each of which returns a promise.
 *
 * The type maps over the members of the class, so that an editor finds the declaration, the documentation and
 * the uses of a method through a handle. A method that returns a promise keeps its type, with its type
 * parameters and overloads. The names do not depend on the results of methods, which the compiler infers, in
 * part from calls through this handle.
 */
export type ActorHandle<A extends Actor> = {
  readonly [Name in keyof A as FunctionName<Name, A[Name]>]: IsMethod<A[Name]> extends false
    ? (problem: `${Name & string} is a field; write it as a method`) => never
    : A[Name] extends (...args: infer Args) => infer Result
      ? IsPromise<Result> extends true
        ? A[Name]
        : (...args: Args) => Promise<Awaited<Result>>
      : never
}

/** The names of the methods that can be called. */
export type CallableNames<A extends Actor> = {
  [Name in keyof A]: IsMethod<A[Name]> extends false ? never : FunctionName<Name, A[Name]>
}[keyof A]

/**
 * The name of a member that is a function. Hooks are protected, so `keyof` does not include them. Names that
 * begin with `_`, methods of every object, `then` and `toJSON` are excluded.
 */
type FunctionName<Name, Member> = Name extends symbol | number | `_${string}` | NeverCalled
  ? never
  : Member extends (...args: never) => unknown
    ? Name
    : never

/**
 * Whether a function is a method, as opposed to a function in a field, which cannot be called. Under
 * `strictFunctionTypes` the compiler compares the parameters of methods in both directions and those of other
 * functions in one, so a function that accepts no arguments at all is assignable to a method only. Functions
 * without parameters cannot be told apart, and count as methods.
 */
type IsMethod<F> = ((...args: never) => never) extends F ? true : false

/** `any` does not count as a promise. */
type IsPromise<T> = unknown extends T ? false : [T] extends [Promise<unknown>] ? true : false

type NeverCalled = ObjectMethod | "then" | "toJSON"

import { WHY_REFUSED } from "../serialization/refused-value.js"

/** Options of the calls through a handle. */
export interface CallOptions {
  /** How long to wait. Default: the `timeoutMs` of the method, or else the system's `requestTimeoutMs`. */
  readonly timeoutMs?: number
  /** Cancels the calls when it is aborted. Default: none. */
  readonly signal?: AbortSignal
  /**
   * The operation of the calls: the actor applies calls with the same operation once, and answers each of
   * them alike. Their method must be `once`. Default: the runtime names each call of a `once` method.
   */
  readonly operation?: string
}

/**
 * Returns a handle of the same actor whose calls use these options.
 *
 * @example
 * import { type ActorHandle, type Actor, withOptions } from "troupe"
 *
 * declare class Account extends Actor {
 *   balance(): number
 * }
 *
 * async function balanceOf(account: ActorHandle<Account>): Promise<number> {
 *   return await withOptions(account, { timeoutMs: 500 }).balance()
 * }
 */
export function withOptions<H extends object>(handle: H, options: CallOptions): H {
  return Handle.with(handle, { options }) as unknown as H
}

/**
 * Returns a handle of the same actor whose calls do not wait for an answer. A message that cannot be
 * delivered, or whose delivery cannot be confirmed, becomes a dead letter.
 *
 * @example
 * import { type ActorHandle, type Actor, oneWay } from "troupe"
 *
 * declare class Meter extends Actor {
 *   count(amount: number): void
 * }
 *
 * function report(meter: ActorHandle<Meter>): void {
 *   oneWay(meter).count(1)
 * }
 */
export function oneWay<H extends object>(handle: H): OneWayHandle<H> {
  return Handle.with(handle, { isOneWay: true }) as unknown as OneWayHandle<H>
}

/** A handle whose methods return nothing. */
export type OneWayHandle<H> = {
  readonly [Name in keyof H]: H[Name] extends (...args: infer Args) => unknown
    ? (...args: Args) => void
    : never
}

/**
 * The object through which callers call an actor. Its methods are the callable methods of the actor.
 *
 * The methods of a known class are defined once, on a prototype that all handles of the type share. A proxy
 * further up the prototype chain handles all other names. A proxy as the handle itself would be simpler, but
 * would make every call more expensive. The proxy returns `undefined` for `then` and for symbols, so that
 * awaiting or logging a handle does not call the actor.
 */
class Handle {
  readonly #target: HandleTarget
  readonly #options: CallOptions | undefined
  readonly #isOneWay: boolean

  constructor(target: HandleTarget, options: CallOptions | undefined, isOneWay: boolean) {
    this.#target = target
    this.#options = options
    this.#isOneWay = isOneWay
  }

  static of(value: object): Handle {
    if (value instanceof Handle) return value
    throw new TypeError("not an actor handle; create one with system.actor(Type, key)")
  }

  /** Creates the method of handles that calls the actor's method of that name. */
  static caller(name: string) {
    return function (this: Handle, ...args: unknown[]): unknown {
      return this.#target.call(name, args, this.#options, this.#isOneWay)
    }
  }

  get [WHY_REFUSED](): string {
    return "is an actor handle, which cannot be sent; send the actor's key, and create a handle from it"
  }

  toString(): string {
    return `Actor(${this.#target})`
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString()
  }

  /** Creates a handle with the same methods whose calls go to what `change` makes of its target. */
  static redirected(value: object, change: (target: HandleTarget) => HandleTarget): Handle {
    const handle = Handle.of(value)
    const Shape = handle.constructor as HandleShape
    return new Shape(change(handle.#target), handle.#options, true)
  }

  static with(
    value: object,
    change: { readonly options?: CallOptions; readonly isOneWay?: boolean },
  ): Handle {
    const handle = Handle.of(value)
    const Shape = handle.constructor as HandleShape
    return new Shape(
      handle.#target,
      change.options === undefined ? handle.#options : { ...handle.#options, ...change.options },
      change.isOneWay ?? handle.#isOneWay,
    )
  }
}

/** Returns a handle with the same methods whose calls go to what `change` makes of its target. */
export function redirected(handle: object, change: (target: HandleTarget) => HandleTarget): object {
  return Handle.redirected(handle, change)
}

/** The actor that a handle calls. */
export interface HandleTarget {
  /** Calls the actor. Returns a promise, or undefined for a one-way call. */
  call(method: string, args: readonly unknown[], options: CallOptions | undefined, isOneWay: boolean): unknown
  toString(): string
}

export type HandleShape = new (
  target: HandleTarget,
  options: CallOptions | undefined,
  isOneWay: boolean,
) => Handle

/** Creates a class of handles with these methods. */
export function handleShape(methods: Iterable<string>): HandleShape {
  class ActorHandle extends Handle {}
  Object.setPrototypeOf(ActorHandle.prototype, anyMethod)
  for (const name of methods)
    Object.defineProperty(ActorHandle.prototype, name, { value: Handle.caller(name) })
  return ActorHandle
}

/**
 * The prototype of all classes of handles. It has a method for every name, and the actor refuses the names
 * that it does not know. Exceptions are members of every object, and `toJSON` and `then`, which
 * `JSON.stringify` and promises read.
 */
const anyMethod: object = new Proxy(Object.create(Handle.prototype) as object, {
  get(target, name, receiver) {
    if (typeof name === "symbol" || name in Handle.prototype)
      return Reflect.get(target, name, receiver) as unknown
    return name === "then" || name === "toJSON" ? undefined : Handle.caller(name)
  },
})

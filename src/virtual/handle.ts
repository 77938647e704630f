import { WHY_REFUSED } from "../serialization/refused-value.js"

/** How calls through a handle are made. */
export interface CallOptions {
  /** The method's own, or the system's `requestTimeoutMs`, unless set. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** The same actor, called with these options. */
export function withOptions<H extends object>(handle: H, options: CallOptions): H {
  return Handle.with(handle, { options }) as unknown as H
}

/**
 * The same actor, called without waiting for an answer. A message that comes to nothing goes to dead letters.
 */
export function oneWay<H extends object>(handle: H): OneWayHandle<H> {
  return Handle.with(handle, { isOneWay: true }) as unknown as OneWayHandle<H>
}

export type OneWayHandle<H> = {
  readonly [Name in keyof H]: H[Name] extends (...args: infer Args) => unknown
    ? (...args: Args) => void
    : never
}

/**
 * What stands for an actor in the hands of its callers: an object whose methods are those that can be called.
 *
 * The methods of a class that is known are made once, on a prototype that all its handles share; any other
 * name is caught by a proxy behind that. A proxy in front would be simpler, and would make every call dearer.
 * It answers `undefined` to `then` and to symbols, so that to await a handle, or to log it, does nothing.
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
    throw new TypeError("this is no handle of an actor; system.actor gives one")
  }

  /** The method of handles that calls the actor's method of that name. */
  static caller(name: string) {
    return function (this: Handle, ...args: unknown[]): unknown {
      return this.#target.call(name, args, this.#options, this.#isOneWay)
    }
  }

  get [WHY_REFUSED](): string {
    return "is a handle, and a handle cannot be sent; send the actor's key, and make a handle from that"
  }

  toString(): string {
    return `Actor(${this.#target})`
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString()
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

/** What a handle needs of the system. */
export interface HandleTarget {
  /** A promise, or undefined if it is one-way. */
  call(method: string, args: readonly unknown[], options: CallOptions | undefined, isOneWay: boolean): unknown
  toString(): string
}

export type HandleShape = new (
  target: HandleTarget,
  options: CallOptions | undefined,
  isOneWay: boolean,
) => Handle

/** The class of handles that have these methods. */
export function handleShape(methods: Iterable<string>): HandleShape {
  class ActorHandle extends Handle {}
  Object.setPrototypeOf(ActorHandle.prototype, strangers)
  for (const name of methods)
    Object.defineProperty(ActorHandle.prototype, name, { value: Handle.caller(name) })
  return ActorHandle
}

/**
 * Behind all shapes: any name that may be a method is one, and what the actor does not know it refuses. Names
 * that every object has, and that JSON and promises ask for, are none.
 */
const strangers: object = new Proxy(Object.create(Handle.prototype) as object, {
  get(target, name, receiver) {
    if (typeof name === "symbol" || name in Handle.prototype)
      return Reflect.get(target, name, receiver) as unknown
    return name === "then" || name === "toJSON" ? undefined : Handle.caller(name)
  },
})

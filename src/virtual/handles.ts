import { ActorId } from "../address/actor-id.js"
import { UnknownMethodError } from "../errors/actor-call-errors.js"
import { CallError, InvalidMessageError } from "../errors/call-errors.js"
import type { Span, Telemetry } from "../ports/telemetry.js"
import { MAX_CHAIN } from "../serialization/envelope.js"
import type { Activation } from "./activation.js"
import type { ActorClass } from "./actor-class.js"
import type { ActorHost } from "./actor-host.js"
import { ActorType } from "./actor-type.js"
import type { CallRouter } from "./call-router.js"
import { fencedError } from "./fenced-error.js"
import { type CallOptions, type HandleShape, type HandleTarget, handleShape } from "./handle.js"
import { isDuration } from "./method-options.js"
import { type CallRequest, type CallTarget, OutgoingCall } from "./outgoing-call.js"

/** Makes handles, and the calls that are made through them. */
export class Handles {
  readonly #host: ActorHost
  readonly #router: CallRouter
  readonly #shapes = new Map<string, HandleShape>()
  /** Types that this node does not host, as far as their classes were used here. */
  readonly #foreign = new Map<string, ActorType>()

  constructor(host: ActorHost) {
    this.#host = host
    this.#router = host.router
  }

  /** A handle. Throws an `ActorIdError` for what is no key. */
  of(type: ActorClass | string, key: string, from?: Activation): unknown {
    const name = typeof type === "function" ? (type.type ?? type.name) : type
    const id = ActorId.of(this.#host.options.namespace, name, key)
    const Shape = this.#shapeOf(name, type)
    return new Shape(this.#target(id, from), undefined, false)
  }

  #target(id: ActorId, from: Activation | undefined): HandleTarget {
    const to: Addressee = { id, hosted: this.#host.types.get(id.type), maker: from }
    return {
      call: (method, args, options, isOneWay) => {
        if (isOneWay) return this.#sendOneWay(to, method, args, options)
        // A function of its own for each promise would be one more thing to allocate for every call.
        const promise = new Promise(capture)
        const { resolve, reject } = captured
        try {
          this.#send(to, method, args, options, resolve, reject)
        } catch (error) {
          reject(error)
        }
        return promise
      },
      toString: () => id.toString(),
    }
  }

  /**
   * One-way without `resolve`. Every call goes through here: what is rare in it is elsewhere, so that it
   * stays small.
   */
  #send(
    to: Addressee,
    method: string,
    args: readonly unknown[],
    options: CallOptions | undefined,
    resolve: CallRequest["resolve"],
    reject: CallRequest["reject"],
  ): void {
    const { id, hosted, maker: from } = to
    if (from?.tenure.endedBecause !== undefined) throw fencedError(from.tenure, "not-delivered")
    const known = (hosted ?? this.#foreign.get(id.type))?.method(method)
    if (hosted !== undefined && known === undefined) throw new UnknownMethodError(id.type, method)
    const timeoutMs = options?.timeoutMs ?? known?.timeoutMs ?? this.#host.environment.askTimeoutMs
    if (options?.timeoutMs !== undefined && !isDuration(timeoutMs)) throw noDuration(timeoutMs)
    const { telemetry } = this.#host.options
    const call = new OutgoingCall(this.#router, to, {
      method,
      args: this.#host.copier.copyArguments(args, id, method),
      flags: known?.flags ?? 0,
      chain: resolve === undefined || from === undefined ? NO_CHAIN : chainOf(from),
      timeoutMs,
      span: telemetry === undefined ? undefined : spanOf(telemetry, to, method),
      resolve,
      reject,
    })
    this.#router.route(call, options?.signal)
  }

  /** Whether a message is refused here or elsewhere is the same to whoever waits for no answer. */
  #sendOneWay(
    to: Addressee,
    method: string,
    args: readonly unknown[],
    options: CallOptions | undefined,
  ): void {
    try {
      this.#send(to, method, args, options, undefined, undefined)
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      this.#host.undelivered(to.id, method, args, error)
    }
  }

  #shapeOf(name: string, type: ActorClass | string): HandleShape {
    const known = this.#shapes.get(name)
    if (known !== undefined) return known
    const hosted = this.#host.types.get(name)
    if (hosted === undefined && typeof type === "string") return StrangeHandle
    const described = hosted ?? new ActorType(type as ActorClass)
    if (hosted === undefined) this.#foreign.set(name, described)
    const shape = handleShape(described.methodNames)
    this.#shapes.set(name, shape)
    return shape
  }
}

const NO_CHAIN: readonly string[] = []
/** For actors of which only the name of their type is known. */
const StrangeHandle = handleShape([])

/**
 * Who waits for a call that is made there. Throws an `InvalidMessageError` where so many do that it cannot be
 * meant.
 */
function chainOf(from: Activation): readonly string[] {
  const { callChain } = from
  if (callChain.length <= MAX_CHAIN) return callChain
  throw new InvalidMessageError(
    `the call is made in a call that is made in another, and so on: ${MAX_CHAIN} may wait for each other`,
  )
}

/**
 * Whom the calls through one handle are for, and who makes them; undefined for calls from outside of actors.
 */
interface Addressee extends CallTarget {
  /** Undefined where this node does not host the type. */
  readonly hosted: ActorType | undefined
  readonly maker: Activation | undefined
}

function spanOf(telemetry: Telemetry, { id, maker: from }: Addressee, method: string): Span {
  const attributes = { "troupe.actor": id.toString() }
  const parent = from?.currentTurn?.span?.context
  const options = parent === undefined ? { attributes } : { attributes, parent }
  return telemetry.span(`call ${id.type}.${method}`, options)
}

function noDuration(timeoutMs: unknown): RangeError {
  return new RangeError(
    `timeoutMs must be a number of milliseconds above 0 (got ${typeof timeoutMs} ${String(timeoutMs)})`,
  )
}

/** The functions of the promise that was made last. */
const captured: { resolve: (value: unknown) => void; reject: (error: unknown) => void } = {
  resolve: () => {},
  reject: () => {},
}

function capture(resolve: (value: unknown) => void, reject: (error: unknown) => void): void {
  captured.resolve = resolve
  captured.reject = reject
}

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

/** Creates handles, and makes the calls that go through them. */
export class Handles {
  readonly #host: ActorHost
  readonly #router: CallRouter
  readonly #shapes = new Map<string, HandleShape>()
  /** The types that this node does not host, if their classes were passed to `of`. */
  readonly #unhosted = new Map<string, ActorType>()

  constructor(host: ActorHost) {
    this.#host = host
    this.#router = host.router
  }

  /** Creates a handle. Throws an `ActorIdError` if the key is invalid. */
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
        // A closure per promise would be another allocation for every call.
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
   * Makes a call, which is one-way if `resolve` is undefined. Every call passes through this method, so it is
   * kept small, and code that rarely runs is in other functions.
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
    const known = (hosted ?? this.#unhosted.get(id.type))?.method(method)
    if (hosted !== undefined && known === undefined) throw new UnknownMethodError(id.type, method)
    const timeoutMs = options?.timeoutMs ?? known?.timeoutMs ?? this.#host.environment.askTimeoutMs
    if (options?.timeoutMs !== undefined && !isDuration(timeoutMs)) throw invalidTimeout(timeoutMs)
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

  /**
   * Makes a one-way call. A `CallError` is not thrown but reported as a dead letter, as it would be if
   * another node had refused the message.
   */
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
    if (hosted === undefined && typeof type === "string") return UntypedHandle
    const described = hosted ?? new ActorType(type as ActorClass)
    if (hosted === undefined) this.#unhosted.set(name, described)
    const shape = handleShape(described.methodNames)
    this.#shapes.set(name, shape)
    return shape
  }
}

const NO_CHAIN: readonly string[] = []
/** The class of handles to types of which this node knows only the name. */
const UntypedHandle = handleShape([])

/**
 * Returns the actors that wait for a call that `from` makes now. Throws an `InvalidMessageError` if they are
 * more than `MAX_CHAIN`, since such a chain cannot be intended.
 */
function chainOf(from: Activation): readonly string[] {
  const { callChain } = from
  if (callChain.length <= MAX_CHAIN) return callChain
  throw new InvalidMessageError(`call chain is longer than ${MAX_CHAIN} calls`)
}

/** The actor that the calls through one handle go to, and the activation that makes them. */
interface Addressee extends CallTarget {
  /** Undefined if this node does not host the type. */
  readonly hosted: ActorType | undefined
  /** Undefined for calls from outside actors. */
  readonly maker: Activation | undefined
}

function spanOf(telemetry: Telemetry, { id, maker: from }: Addressee, method: string): Span {
  const attributes = { "troupe.actor": id.toString() }
  const parent = from?.currentTurn?.span?.context
  const options = parent === undefined ? { attributes } : { attributes, parent }
  return telemetry.span(`call ${id.type}.${method}`, options)
}

function invalidTimeout(timeoutMs: unknown): RangeError {
  return new RangeError(
    `timeoutMs must be a number of milliseconds above 0 (got ${typeof timeoutMs} ${String(timeoutMs)})`,
  )
}

/** The functions of the promise that was created last. */
const captured: { resolve: (value: unknown) => void; reject: (error: unknown) => void } = {
  resolve: () => {},
  reject: () => {},
}

function capture(resolve: (value: unknown) => void, reject: (error: unknown) => void): void {
  captured.resolve = resolve
  captured.reject = reject
}

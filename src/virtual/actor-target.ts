import type { ActorId } from "../address/actor-id.js"
import { UnknownMethodError } from "../errors/actor-call-errors.js"
import { CallError, InvalidMessageError } from "../errors/call-errors.js"
import { MAX_CHAIN } from "../serialization/envelope.js"
import type { Activation } from "./activation.js"
import type { ActorHost } from "./actor-host.js"
import type { ActorMethod, ActorType } from "./actor-type.js"
import { fencedError } from "./fenced-error.js"
import type { CallOptions, HandleTarget } from "./handle.js"
import { isInternalName } from "./internal-methods.js"
import { isDuration } from "./method-options.js"
import { derivedName, operationProblem } from "./operation.js"
import { type CallRequest, type CallTarget, OutgoingCall } from "./outgoing-call.js"
import { OutgoingOperation } from "./outgoing-operation.js"
import type { Principal } from "./principal.js"

/** The actor that a handle stands for: makes the calls that go through the handle. */
export class ActorTarget implements HandleTarget, CallTarget {
  readonly id: ActorId
  /** The activation that makes the calls; undefined for calls from outside actors. */
  readonly maker: Activation | undefined
  readonly #host: ActorHost
  /** Undefined if this node does not host the type. */
  readonly #hosted: ActorType | undefined
  readonly #unhosted: ReadonlyMap<string, ActorType>

  /** `unhosted`: the types that this node does not host, as far as their classes are known. */
  constructor(
    host: ActorHost,
    unhosted: ReadonlyMap<string, ActorType>,
    id: ActorId,
    maker: Activation | undefined,
  ) {
    this.id = id
    this.maker = maker
    this.#host = host
    this.#hosted = host.types.get(id.type)
    this.#unhosted = unhosted
  }

  call(
    method: string,
    args: readonly unknown[],
    options: GatewayCallOptions | undefined,
    isOneWay: boolean,
  ): unknown {
    if (isOneWay) return this.#sendOneWay(method, args, options)
    // A closure per promise would be another allocation for every call.
    const promise = new Promise(capture)
    const { resolve, reject } = captured
    try {
      this.#send(method, args, options, resolve, reject)
    } catch (error) {
      reject(error)
    }
    return promise
  }

  toString(): string {
    return this.id.toString()
  }

  /** Returns the method if the class is known. Throws if this node hosts the type, and it has no such one. */
  knownMethod(method: string): ActorMethod | undefined {
    const hosted = this.#hosted
    const known = (hosted ?? this.#unhosted.get(this.id.type))?.method(method)
    if (hosted !== undefined && known === undefined) throw hosted.unknownMethod(method)
    if (known === undefined && isInternalName(method)) throw new UnknownMethodError(this.id.type, method)
    return known
  }

  /** Throws an `InvalidMessageError` for arguments that cannot be sent. */
  copyArguments(method: string, args: readonly unknown[]): readonly unknown[] {
    return this.#host.copier.copyArguments(args, this.id, method)
  }

  /**
   * Makes a call, which is one-way if `resolve` is undefined. Every call passes through this method, so it is
   * kept small, and code that rarely runs is in other functions.
   */
  #send(
    method: string,
    args: readonly unknown[],
    options: GatewayCallOptions | undefined,
    resolve: CallRequest["resolve"],
    reject: CallRequest["reject"],
  ): void {
    const { id, maker } = this
    if (maker?.tenure.endedBecause !== undefined) throw fencedError(maker.tenure, "not-delivered")
    const known = this.knownMethod(method)
    const timeoutMs = options?.timeoutMs ?? known?.timeoutMs ?? this.#host.environment.askTimeoutMs
    if (options?.timeoutMs !== undefined && !isDuration(timeoutMs)) throw invalidTimeout(timeoutMs)
    const { spans } = this.#host
    const isOnce = this.#isOnce(method, known, options?.operation !== undefined)
    const call = new OutgoingCall(this.#host.router, this, {
      method,
      args: this.#host.copier.copyArguments(args, id, method),
      flags: known?.flags ?? 0,
      chain: resolve === undefined || maker === undefined ? NO_CHAIN : chainOf(maker),
      timeoutMs,
      span:
        spans === undefined || (maker === undefined && spans.isShut) ? undefined : spans.ofCall(this, method),
      operation: isOnce ? this.#operationOf(options?.operation) : undefined,
      caller: options?.caller,
      resolve,
      reject,
    })
    this.#host.router.route(call, options?.signal)
  }

  /**
   * Whether the call has an operation. The nodes that host the type decide that, so callers need only its
   * name. Throws a `TypeError` if the call `isNamed` and the method is not once.
   */
  #isOnce(method: string, known: ActorMethod | undefined, isNamed: boolean): boolean {
    if (known !== undefined && known.once === undefined && !isNamed) return false
    const isOnce = this.isOnce(method, known)
    if (!isNamed) return isOnce === true
    if (isOnce !== false) return true
    throw new TypeError(`${this.id.type}.${method} must be once to be called with an operation`)
  }

  /** Whether the method is once, as far as that is known. */
  isOnce(method: string, known: ActorMethod | undefined): boolean | undefined {
    if (known !== undefined && known.once === undefined) return false
    return (
      this.#host.registry.published.isOnce(this.id.type, method) ?? (known === undefined ? undefined : true)
    )
  }

  /**
   * The operation of a call: the one that the caller names; in a turn of a `once` method, one that a repeat
   * of the turn would have too; otherwise a number.
   */
  #operationOf(text: string | undefined): OutgoingOperation {
    const { ledger } = this.#host
    const { name } = this.id
    if (text !== undefined) {
      const problem = operationProblem(text)
      if (problem !== undefined) throw new RangeError(`operation ${problem} (got ${JSON.stringify(text)})`)
      return OutgoingOperation.continued(ledger, name, text)
    }
    const turn = this.maker?.currentTurn
    const of = turn?.operation ?? turn?.occurrence
    if (turn === undefined || of === undefined) return new OutgoingOperation(ledger, name)
    turn.derived += 1
    const { isRepeat } = of
    return new OutgoingOperation(ledger, name, {
      kind: "named",
      name: derivedName(of, turn.runner.key, turn.derived),
      isRepeat,
    })
  }

  /**
   * Makes a one-way call. A `CallError` is not thrown but reported as a dead letter, as it would be if
   * another node had refused the message.
   */
  #sendOneWay(method: string, args: readonly unknown[], options: CallOptions | undefined): void {
    try {
      this.#send(method, args, options, undefined, undefined)
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      this.#host.undelivered(this.id, method, args, error)
    }
  }
}

/** The options of a call that a gateway makes. */
export interface GatewayCallOptions extends CallOptions {
  readonly caller?: Principal
}

const NO_CHAIN: readonly string[] = []
/**
 * Returns the actors that wait for a call that `from` makes now. Throws an `InvalidMessageError` if they are
 * more than `MAX_CHAIN`, since such a chain cannot be intended.
 */
function chainOf(from: Activation): readonly string[] {
  const { callChain } = from
  if (callChain.length <= MAX_CHAIN) return callChain
  throw new InvalidMessageError(`call chain is longer than ${MAX_CHAIN} calls`)
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

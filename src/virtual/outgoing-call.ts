import { offAbort, onAbort } from "../actor/abort-fan-out.js"
import type { DeadLetterReason } from "../actor/dead-letters.js"
import { leave } from "../actor/deadlines.js"
import { refusal } from "../actor/local-ref.js"
import { ReplyRef } from "../actor/reply-ref.js"
import type { ActorId } from "../address/actor-id.js"
import type { ActorPath } from "../address/actor-path.js"
import {
  CallError,
  CancelledError,
  type Delivery,
  type FencedError,
  InvalidMessageError,
  TimeoutError,
} from "../errors/call-errors.js"
import { fieldOf, isInstance } from "../errors/thrown.js"
import type { Span, TraceContext } from "../ports/telemetry.js"
import type { Tenure } from "../registry/tenure.js"
import { plainError } from "../remote/plain-error.js"
import { type Extras, SUPPRESS_KEEP_ALIVE } from "../serialization/envelope.js"
import { fencedError } from "./fenced-error.js"
import type { Invocation } from "./invocation.js"
import type { OutgoingCalls } from "./outgoing-calls.js"
import { isRetryable } from "./retryable.js"
import type { RoutableCall, RoutedCall } from "./routing-protocol.js"

/**
 * A call that was made on this node, until it ends: with a value or an error, once.
 *
 * It is also what an answer from another node is told to. An error that says that nothing was run does not
 * end it where trying again may help: its route decides.
 *
 * A call that an actor makes keeps the tenure of its maker, and asks it at every exit: whenever it is sent or
 * sent again, and when it is handed to an activation of this node. To ask only when the call is made is not
 * enough:
 *
 *   1. generation 4 of an actor calls a type that has no host for the moment; the call waits on its node
 *   2. the node freezes past its lease; generation 18 runs elsewhere, calls, and is answered
 *   3. the node goes on, is fenced, and joins again: without the question at the exit it would now send the
 *      call of generation 4
 */
export class OutgoingCall extends ReplyRef implements Invocation, RoutableCall {
  /** Undefined for calls that went to an activation of this node at once. */
  routed: RoutedCall<OutgoingCall> | undefined = undefined
  /** How long the answer may take, from when the call was last sent. */
  timeLeftMs: number
  /** Its order among all calls of this node. */
  order = 0
  readonly method: string
  readonly args: readonly unknown[]
  readonly flags: number
  readonly chain: readonly string[]
  /** How long the answer may take, from when the call was made. */
  readonly callTimeoutMs: number
  readonly #desk: CallDesk
  readonly #target: CallTarget
  readonly #span: Span | undefined
  readonly #resolve: CallRequest["resolve"]
  readonly #reject: CallRequest["reject"]
  #signal: AbortSignal | undefined = undefined
  /** Its maker counts it among those that have not left. */
  #isUnsent = false
  #isOver = false
  #mayHaveRun = false

  constructor(desk: CallDesk, target: CallTarget, request: CallRequest) {
    super()
    const { timeoutMs } = request
    this.#desk = desk
    this.#target = target
    this.method = request.method
    this.args = request.args
    this.flags = request.flags
    this.chain = request.chain
    this.callTimeoutMs = timeoutMs
    this.timeLeftMs = timeoutMs
    this.#span = request.span
    this.#resolve = request.resolve
    this.#reject = request.reject
    if (target.maker !== undefined) {
      this.#isUnsent = true
      target.maker.outgoing.made()
    }
  }

  get id(): ActorId {
    return this.#target.id
  }

  get key(): string {
    return this.#target.id.name
  }

  get isOneWay(): boolean {
    return this.#resolve === undefined
  }

  get trace(): TraceContext | undefined {
    return this.#span?.context
  }

  /** What is sent beside the message. */
  get extras(): Extras | undefined {
    const { flags, chain, trace } = this
    if (flags === 0 && chain.length === 0 && trace === undefined) return undefined
    return { flags, chain, trace: sendable(trace) }
  }

  get keepsNothingAlive(): boolean {
    return (this.flags & SUPPRESS_KEEP_ALIVE) !== 0
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get timeoutMs(): number {
    return this.timeLeftMs
  }

  get path(): ActorPath {
    return this.#desk.path
  }

  /** Why it may not leave its maker now; undefined if it may, and then it counts as sent. */
  override exitRefusal(): FencedError | undefined {
    const { maker } = this.#target
    if (maker === undefined) return undefined
    const { tenure } = maker
    if (!tenure.mayAct()) return fencedError(tenure, "not-delivered")
    this.#countSent(maker)
    return undefined
  }

  /** Whether it may leave its maker now. Fails if it never may again. */
  exits(): boolean {
    const refused = this.exitRefusal()
    if (refused !== undefined && this.exit === "shut") this.failOvertaken()
    return refused === undefined
  }

  get exit(): "open" | "waits" | "shut" {
    const { maker } = this.#target
    if (maker === undefined) return "open"
    const { tenure } = maker
    if (tenure.endedBecause !== undefined) return "shut"
    return tenure.mayAct() ? "open" : "waits"
  }

  /** Fails it because its maker was overtaken: it was not run, and will not be. */
  failOvertaken(): void {
    const { maker } = this.#target
    if (maker !== undefined) this.failForGood(fencedError(maker.tenure, "not-delivered"))
  }

  /** Resolves when it may leave its maker, or never may again. */
  async exitOpened(): Promise<void> {
    await this.#target.maker?.tenure.opened()
  }

  /** It was handed to an activation of this node, or sent, and was not run: it has yet to leave. */
  rerouted(): void {
    const { maker } = this.#target
    if (maker === undefined || this.#isUnsent) return
    this.#isUnsent = true
    maker.outgoing.returned()
  }

  /** It was not run, and there is no time left to try again. */
  tooLate(): void {
    if (!this.#isOver)
      this.#failFor(new TimeoutError(`${this.id}.${this.method}`, this.callTimeoutMs, "not-delivered"))
  }

  listenTo(signal: AbortSignal): void {
    this.#signal = signal
    onAbort(signal, this)
  }

  begun(): void {
    this.#mayHaveRun = true
    if (this.isOneWay) this.#resolveWith(undefined)
  }

  /** On this node: what the actor gave is copied. */
  succeed(value: unknown): void {
    if (this.#isOver) return
    let copy: unknown
    try {
      copy = this.#desk.copied(value)
    } catch (error) {
      const { message } = error as Error
      return this.#failFor(new InvalidMessageError(`the answer cannot be sent: ${message}`, "unknown"))
    }
    this.#resolveWith(copy)
  }

  fail(error: Error): void {
    if (this.#isOver) return
    if (error instanceof CallError && error.delivery === "not-delivered") {
      this.#mayHaveRun = false
      if (isRetryable(error) && this.#desk.retry(this, error)) return
    }
    this.#failFor(error instanceof CallError && error.cause === undefined ? error : this.#copied(error))
  }

  /**
   * As another node would have sent it: as it is, or as much of it as can be sent. Only its stack is what it
   * was.
   */
  #copied(error: Error): Error {
    for (const make of [() => error, () => plainError(error)]) {
      try {
        const copy = this.#desk.copied(make())
        if (copy instanceof Error) return withStacksOf(copy, error)
      } catch {}
    }
    return new InvalidMessageError("the call failed with an error that cannot be encoded", "unknown")
  }

  /** Ends it, whatever could be tried. */
  failForGood(error: Error): void {
    if (!this.#isOver) this.#failFor(error)
  }

  tell(answer: unknown): void {
    if (this.accept(answer) !== undefined) this.#desk.lateAnswer(this, answer)
  }

  accept(answer: unknown): DeadLetterReason | undefined {
    if (this.#isOver) return "ask-ended"
    this.#resolveWith(answer)
    return undefined
  }

  request(_reply: ReplyRef, message: unknown) {
    const refused = this.accept(message)
    return refused === undefined ? undefined : refusal(this, refused)
  }

  withdraw(): Delivery {
    return "unknown"
  }

  targetStopped(): void {}

  expire(): void {
    if (this.#isOver) return
    const delivery = this.#withdrawn()
    const { callTimeoutMs: timeoutMs } = this
    const hindrance = delivery === "unknown" ? undefined : this.#desk.hindrance(this)
    const problem = hindrance && `was not run within ${timeoutMs} ms: ${hindrance}`
    this.#failFor(new TimeoutError(`${this.id}.${this.method}`, timeoutMs, delivery, problem))
  }

  /** The system has stopped. */
  abandon(): void {
    if (this.#isOver) return
    const delivery = this.#withdrawn()
    const cause = new Error("the system that called has stopped")
    this.#failFor(new CancelledError(`${this.id}.${this.method}`, delivery, cause))
  }

  aborted(signal: AbortSignal): void {
    if (this.#isOver) return
    const delivery = this.#withdrawn()
    this.#failFor(new CancelledError(`${this.id}.${this.method}`, delivery, signal.reason))
  }

  #resolveWith(value: unknown): void {
    if (this.#end()) this.#resolve?.(value)
  }

  #failFor(error: Error): void {
    if (!this.#isOver) this.#span?.fail(error)
    if (!this.#end()) return
    if (this.#reject !== undefined) this.#reject(error)
    else this.#desk.undelivered(this, error)
  }

  #withdrawn(): Delivery {
    if (this.routed?.sentTo !== undefined) return this.#desk.withdraw(this)
    return this.#mayHaveRun ? "unknown" : "not-delivered"
  }

  #end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    leave(this)
    if (this.#signal !== undefined) offAbort(this.#signal, this)
    if (this.routed !== undefined) this.#desk.callEnded(this)
    if (this.#target.maker !== undefined) this.#countEnded(this.#target.maker)
    this.#span?.end()
    return true
  }

  #countSent(maker: CallMaker): void {
    if (!this.#isUnsent) return
    this.#isUnsent = false
    maker.outgoing.left()
  }

  #countEnded(maker: CallMaker): void {
    this.#countSent(maker)
    maker.outgoing.ended()
  }
}

/** The trace comes from an adapter of the user; a malformed one would make the message unreadable. */
function sendable(trace: TraceContext | undefined): TraceContext | undefined {
  if (trace === undefined) return undefined
  return /^[0-9a-f]{32}$/.test(trace.traceId) && /^[0-9a-f]{16}$/.test(trace.spanId) ? trace : undefined
}

/** Of the error and its causes. Within one process nobody is told of files that are not its own. */
function withStacksOf(copy: Error, original: Error): Error {
  let [to, from]: unknown[] = [copy, original]
  for (let level = 0; level < MOST_CAUSES && isInstance(to, Error) && isInstance(from, Error); level += 1) {
    const stack = fieldOf(from, "stack")
    if (typeof stack === "string" && !Object.hasOwn(to, "stack")) {
      Object.defineProperty(to, "stack", { value: stack, writable: true, configurable: true })
    }
    to = to.cause
    from = fieldOf(from, "cause")
  }
  return copy
}

const MOST_CAUSES = 50

/** The actor that a handle stands for, and who calls through that handle. */
export interface CallTarget {
  readonly id: ActorId
  /** The activation that makes the calls; undefined for calls from outside of actors, which pass no door. */
  readonly maker: CallMaker | undefined
}

/** What is called, how, and who waits for the answer. */
export interface CallRequest {
  readonly method: string
  readonly args: readonly unknown[]
  readonly flags: number
  readonly chain: readonly string[]
  readonly timeoutMs: number
  /** Undefined where nothing is recorded. */
  readonly span: Span | undefined
  /** Undefined for a one-way call. */
  readonly resolve: ((value: unknown) => void) | undefined
  readonly reject: ((error: unknown) => void) | undefined
}

/** What a call needs of the activation that makes it. */
interface CallMaker {
  readonly tenure: Tenure
  readonly outgoing: OutgoingCalls
}

/** What a call needs of the bus. */
export interface CallDesk {
  /** Where answers to its calls go. */
  readonly path: ActorPath
  /** Throws an `InvalidMessageError` for what could not cross the wire. */
  copied(value: unknown): unknown
  /** Retries a call that was not run. False if it is to end with this error. */
  retry(call: OutgoingCall, error: CallError): boolean
  /** Takes a call that was sent back from its connection: whether it may have been run, or may yet be. */
  withdraw(call: OutgoingCall): Delivery
  callEnded(call: OutgoingCall): void
  lateAnswer(call: OutgoingCall, answer: unknown): void
  /** What it waits for, if it is in the mailbox of an activation of this node. */
  hindrance(call: OutgoingCall): string | undefined
  /** A one-way message came to nothing. */
  undelivered(call: OutgoingCall, error: Error): void
}

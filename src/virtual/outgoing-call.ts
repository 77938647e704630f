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
import type { Span, TraceContext } from "../ports/telemetry.js"
import type { Tenure } from "../registry/tenure.js"
import { plainError } from "../remote/plain-error.js"
import { type Extras, SUPPRESS_KEEP_ALIVE } from "../serialization/envelope.js"
import type { CallRouter } from "./call-router.js"
import { withStacksOf } from "./error-stacks.js"
import { fencedError } from "./fenced-error.js"
import type { Invocation } from "./invocation.js"
import type { Operation } from "./operation.js"
import type { OutgoingCalls } from "./outgoing-calls.js"
import type { OutgoingOperation } from "./outgoing-operation.js"
import type { Principal } from "./principal.js"
import { isOutcomeUnknown, isRepeatable, isRetryable } from "./retryable.js"
import type { RoutableCall, RoutedCall } from "./routing-protocol.js"
import { turnError } from "./turn-result.js"

/**
 * A call that was made on this node. It ends exactly once, with a value or an error.
 *
 * The call is also the target of the answer from another node. A retryable error does not end the call, but
 * returns it to its route.
 *
 * A call that is made by an actor keeps the tenure of its maker, and checks it at every exit: whenever the
 * call is sent or resent, and when it is delivered to an activation of this node. A check only when the call
 * is made would not be enough:
 *
 *   1. generation 4 of an actor calls a type that has no host at the moment; the call waits on its node
 *   2. the node freezes past its lease; generation 18 runs on another node, calls, and is answered
 *   3. the node resumes, is fenced, and joins again: without the check at the exit it would now send the
 *      call of generation 4
 */
export class OutgoingCall extends ReplyRef implements Invocation, RoutableCall {
  /** The routing state; undefined for a call that was delivered to an activation of this node at once. */
  routed: RoutedCall<OutgoingCall> | undefined = undefined
  /** The time that was left for the answer when the call was last sent. */
  timeLeftMs: number
  /** The sequence number of the call among all calls of this node. */
  order = 0
  readonly method: string
  readonly args: readonly unknown[]
  readonly flags: number
  readonly chain: readonly string[]
  /** The timeout of the call, from the time when it was made. */
  readonly callTimeoutMs: number
  readonly #router: CallRouter
  readonly #target: CallTarget
  readonly #span: Span | undefined
  /** The operation of all attempts; undefined if the call is attempted once. */
  readonly attempts: OutgoingOperation | undefined
  readonly caller: Principal | undefined
  readonly #resolve: CallRequest["resolve"]
  readonly #reject: CallRequest["reject"]
  #signal: AbortSignal | undefined = undefined
  /** Until what turns of the maker decided before is stored. */
  #undecided: Promise<void> | undefined = undefined
  /** Whether the maker counts the call as not sent. */
  #isUnsent = false
  #isOver = false
  #mayHaveRun = false

  constructor(router: CallRouter, target: CallTarget, request: CallRequest) {
    super()
    const { timeoutMs } = request
    this.#router = router
    this.#target = target
    this.method = request.method
    this.args = request.args
    this.flags = request.flags
    this.chain = request.chain
    this.callTimeoutMs = timeoutMs
    this.timeLeftMs = timeoutMs
    this.#span = request.span
    this.attempts = request.operation
    this.caller = request.caller
    this.#resolve = request.resolve
    this.#reject = request.reject
    if (target.maker !== undefined) {
      this.#isUnsent = true
      target.maker.outgoing.made()
      this.#undecided = target.maker.undecided
      if (this.#undecided !== undefined) this.#waitForTurns(this.#undecided)
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

  get operation(): Operation | undefined {
    return this.attempts?.value
  }

  /** The headers that are sent with the message. */
  get extras(): Extras | undefined {
    const { flags, chain, trace } = this
    if (flags === 0 && chain.length === 0 && trace === undefined) return undefined
    return { flags, chain, trace: sendable(trace) }
  }

  get isBackground(): boolean {
    return (this.flags & SUPPRESS_KEEP_ALIVE) !== 0
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get timeoutMs(): number {
    return this.timeLeftMs
  }

  get path(): ActorPath {
    return this.#router.path
  }

  /** The call may show what the turns that had ended when it was made decided, and so waits for that. */
  #waitForTurns(undecided: Promise<void>): void {
    void undecided.then(() => {
      this.#undecided = undefined
    })
  }

  /** Returns why the call may not leave its maker now; undefined if it may, and then it counts as sent. */
  override exitRefusal(): FencedError | undefined {
    const { maker } = this.#target
    if (maker === undefined) return undefined
    const { tenure } = maker
    if (!tenure.mayAct() || this.#undecided !== undefined) return fencedError(tenure, "not-delivered")
    this.#countSent(maker)
    return undefined
  }

  /** Returns whether the call may leave its maker now, and fails the call if it never may again. */
  tryExit(): boolean {
    const refused = this.exitRefusal()
    if (refused !== undefined && this.exit === "shut") this.failSuperseded()
    return refused === undefined
  }

  get exit(): "open" | "waits" | "shut" {
    const { maker } = this.#target
    if (maker === undefined) return "open"
    const { tenure } = maker
    if (tenure.endedBecause !== undefined) return "shut"
    return tenure.mayAct() && this.#undecided === undefined ? "open" : "waits"
  }

  /** Fails the call because its maker was superseded: the call has not run, and will not. */
  failSuperseded(): void {
    const { maker } = this.#target
    if (maker !== undefined) this.failForGood(fencedError(maker.tenure, this.#deliveryOfAttempts))
  }

  /** Whether an earlier attempt may have run. */
  get #deliveryOfAttempts(): Delivery {
    return this.attempts?.isRepeat === true ? "unknown" : "not-delivered"
  }

  /** Resolves when the call may leave its maker, or never may again. */
  async exitOpened(): Promise<void> {
    const { maker } = this.#target
    await maker?.tenure.opened()
    await this.#undecided
  }

  /** Counts the call as unsent once more: it was delivered or sent, came back, and was not run. */
  rerouted(): void {
    const { maker } = this.#target
    if (maker === undefined || this.#isUnsent) return
    this.#isUnsent = true
    maker.outgoing.returned()
  }

  /** Fails the call because it was not run and no time is left for a retry. */
  failLate(): void {
    if (!this.#isOver)
      this.#failFor(
        new TimeoutError(`${this.id}.${this.method}`, this.callTimeoutMs, this.#deliveryOfAttempts),
      )
  }

  listenTo(signal: AbortSignal): void {
    this.#signal = signal
    onAbort(signal, this)
  }

  begun(): void {
    this.#mayHaveRun = true
    if (this.isOneWay && this.attempts === undefined) this.#resolveWith(undefined)
  }

  /** Ends the call with a copy of the result of an activation of this node. */
  succeed(value: unknown): void {
    if (this.#isOver) return
    let copy: unknown
    try {
      copy = this.#router.copy(value)
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
      if (isRetryable(error) && this.#router.retry(this, error)) return
      // That a repeat was not run says nothing of the attempts before it.
      if (this.attempts?.wasAttempted === true) return this.#failFor(turnError(error), true)
    } else if (this.attempts !== undefined && isRepeatable(error, this.id)) {
      this.attempts.attempted()
      if (this.#router.retry(this, error as CallError)) return
    }
    this.#failFor(error instanceof CallError && error.cause === undefined ? error : this.#copyError(error))
  }

  /** Copies as much of the error as another node could have sent; only its stack is kept in addition. */
  #copyError(error: Error): Error {
    for (const make of [() => error, () => plainError(error)]) {
      try {
        const copy = this.#router.copy(make())
        if (copy instanceof Error) return withStacksOf(copy, error)
      } catch {}
    }
    return new InvalidMessageError("the call failed with an error that cannot be encoded", "unknown")
  }

  /** Fails the call without a retry. */
  failForGood(error: Error): void {
    if (!this.#isOver) this.#failFor(error)
  }

  tell(answer: unknown): void {
    if (this.accept(answer) !== undefined) this.#router.answeredLate(this, answer)
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
    const blockedBy = delivery === "unknown" ? undefined : this.#router.blockedBy(this)
    const problem = blockedBy && `was not run within ${timeoutMs} ms: ${blockedBy}`
    this.#failFor(new TimeoutError(`${this.id}.${this.method}`, timeoutMs, delivery, problem))
  }

  /** Cancels the call because the system has stopped. */
  abandon(): void {
    if (this.#isOver) return
    const delivery = this.#withdrawn()
    const cause = new Error("the calling system has stopped")
    this.#failFor(new CancelledError(`${this.id}.${this.method}`, delivery, cause))
  }

  aborted(signal: AbortSignal): void {
    if (this.#isOver) return
    const delivery = this.#withdrawn()
    this.#failFor(new CancelledError(`${this.id}.${this.method}`, delivery, signal.reason))
  }

  #resolveWith(value: unknown): void {
    if (!this.#end()) return
    this.attempts?.ended(false)
    this.#resolve?.(value)
  }

  #failFor(error: Error, isUnknown = isOutcomeUnknown(error, this.id)): void {
    if (!this.#isOver) this.#span?.fail(error)
    if (!this.#end()) return
    this.#router.errors.add(error)
    if (this.attempts !== undefined) {
      if (isUnknown) (error as CallError).operation = this.attempts.text
      this.attempts.ended(isUnknown)
    }
    if (this.#reject !== undefined) this.#reject(error)
    else this.#router.undelivered(this, error)
  }

  #withdrawn(): Delivery {
    const sentTo = this.routed?.sentTo
    const last = sentTo === undefined ? this.#deliveryHere : this.#router.withdraw(this)
    return last === "unknown" ? last : this.#deliveryOfAttempts
  }

  get #deliveryHere(): Delivery {
    return this.#mayHaveRun ? "unknown" : "not-delivered"
  }

  #end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    leave(this)
    if (this.#signal !== undefined) offAbort(this.#signal, this)
    if (this.routed !== undefined) this.#router.callEnded(this)
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

/** Drops a malformed trace of the user's telemetry adapter, which would make the message unreadable. */
function sendable(trace: TraceContext | undefined): TraceContext | undefined {
  if (trace === undefined) return undefined
  return /^[0-9a-f]{32}$/.test(trace.traceId) && /^[0-9a-f]{16}$/.test(trace.spanId) ? trace : undefined
}

/** The actor that a handle refers to, and the maker of the calls through the handle. */
export interface CallTarget {
  readonly id: ActorId
  /** The activation that makes the calls; undefined for calls from outside actors, which pass no doors. */
  readonly maker: CallMaker | undefined
}

/** The method, the options and the continuation of a call. */
export interface CallRequest {
  readonly method: string
  readonly args: readonly unknown[]
  readonly flags: number
  readonly chain: readonly string[]
  readonly timeoutMs: number
  /** Undefined if the call is not traced. */
  readonly span: Span | undefined
  /** Undefined if the call is attempted once. */
  readonly operation: OutgoingOperation | undefined
  /** Undefined unless a gateway makes the call. */
  readonly caller?: Principal | undefined
  /** Undefined for a one-way call. */
  readonly resolve: ((value: unknown) => void) | undefined
  readonly reject: ((error: unknown) => void) | undefined
}

/** The activation that makes a call or an ask, as far as that is concerned. */
export interface CallMaker {
  readonly tenure: Tenure
  readonly outgoing: OutgoingCalls
  /** Resolves when what the actor says may leave; undefined if it may now. */
  readonly undecided?: Promise<void> | undefined
}

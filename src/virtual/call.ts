import { offAbort, onAbort } from "../actor/abort-fan-out.js"
import type { DeadLetterReason } from "../actor/dead-letters.js"
import { leave } from "../actor/deadlines.js"
import { refusal } from "../actor/local-ref.js"
import { ReplyRef } from "../actor/reply-ref.js"
import type { ActorId } from "../address/actor-id.js"
import type { ActorPath } from "../address/actor-path.js"
import type { NodeId } from "../address/node-id.js"
import {
  CallError,
  CancelledError,
  type Delivery,
  FencedError,
  InvalidMessageError,
  TimeoutError,
} from "../errors/call-errors.js"
import { fieldOf, isInstance } from "../errors/thrown.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Span, TraceContext } from "../ports/telemetry.js"
import type { Tenure } from "../registry/tenure.js"
import { plainError } from "../remote/plain-error.js"
import { SUPPRESS_KEEP_ALIVE } from "../serialization/envelope.js"
import type { Invocation } from "./invocation.js"
import type { OutgoingCalls } from "./outgoing-calls.js"
import type { Sending } from "./route.js"

/**
 * A call that was made on this node, until it ends: with a value or an error, once.
 *
 * It is also what an answer from another node is told to. An error that says that nothing was run does not end it where trying
 * again may help: its route decides.
 *
 * A call that an actor makes keeps the tenure of its maker, and asks it at every exit: whenever it is sent or sent again, and when it
 * is handed to an activation of this node. To ask only when the call is made is not enough:
 *
 *   1. generation 4 of an actor calls a type that has no host for the moment; the call waits on its node
 *   2. the node freezes past its lease; generation 18 runs elsewhere, calls, and is answered
 *   3. the node goes on, is fenced, and joins again: without the question at the exit it would now send the call of generation 4
 */
export class Call extends ReplyRef implements Invocation {
  /** How often a node that was asked has said that the actor is elsewhere. */
  forwards = 0
  /** The nodes that would not take it. */
  refusedBy: readonly NodeId[] = NOBODY
  /** The way that it is under way on; undefined while it is on this node. */
  sending: Sending | undefined = undefined
  sentTo: NodeId | undefined = undefined
  /** How long the answer may take, from its last sending on. */
  timeLeftMs: number
  /** How often it was tried again. */
  attempts = 0
  /** It was sent, and came back. */
  isAgain = false
  /** Its order among all calls of this node. */
  readonly order: number
  readonly #desk: CallDesk
  readonly #wish: CallWish
  #signal: AbortSignal | undefined = undefined
  /** When its time began to count. */
  #since: MonotonicMs | undefined = undefined
  /** Its maker counts it among those that have not left. */
  #isUnsent = false
  #isOver = false
  #mayHaveRun = false

  constructor(desk: CallDesk, wish: CallWish, order: number) {
    super()
    this.#desk = desk
    this.#wish = wish
    this.timeLeftMs = wish.timeoutMs
    this.order = order
    if (wish.maker !== undefined) {
      this.#isUnsent = true
      wish.maker.outgoing.made()
    }
  }

  get id(): ActorId {
    return this.#wish.id
  }

  get key(): string {
    return this.#wish.key
  }

  get method(): string {
    return this.#wish.method
  }

  get args(): readonly unknown[] {
    return this.#wish.args
  }

  get flags(): number {
    return this.#wish.flags
  }

  get isOneWay(): boolean {
    return this.#wish.isOneWay
  }

  get chain(): readonly string[] {
    return this.#wish.chain
  }

  get trace(): TraceContext | undefined {
    return this.#wish.span?.context
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
    return this.#desk.pathOf(this)
  }

  /** Says how much of its time is left; it counts from the first time that this is asked, which is when it is queued or sent. */
  countTimeAt(now: MonotonicMs): void {
    if (this.#since === undefined) this.#since = now
    else this.timeLeftMs = Math.max(1, this.#wish.timeoutMs - (now - this.#since))
  }

  /** Its time is up by the clock. Its deadline, which is coarser, may not have come yet. */
  isLate(now: MonotonicMs): boolean {
    return this.#since !== undefined && now - this.#since >= this.#wish.timeoutMs
  }

  /** Why it may not leave its maker now; undefined if it may, and then it counts as sent. */
  override exitRefusal(): FencedError | undefined {
    const { maker } = this.#wish
    if (maker === undefined) return undefined
    const { tenure } = maker
    if (!tenure.mayAct()) return fencedMaker(tenure)
    this.#countSent(maker)
    return undefined
  }

  /** Whether it may leave its maker now. Fails if it never may again. */
  exits(): boolean {
    const refused = this.exitRefusal()
    if (refused !== undefined) this.endIfOvertaken()
    return refused === undefined
  }

  /** Its maker's doors have shut for good. */
  get isOvertaken(): boolean {
    return this.#wish.maker?.tenure.endedBecause !== undefined
  }

  /** Ends it if its maker's doors have shut for good: it was not run, and will not be. */
  endIfOvertaken(): void {
    const tenure = this.#wish.maker?.tenure
    if (tenure?.endedBecause !== undefined) this.failForGood(fencedMaker(tenure))
  }

  /** Its maker's doors wait for a renewal; undefined if they do not. Resolves when they have opened, or shut for good. */
  exitOpened(): Promise<unknown> | undefined {
    const tenure = this.#wish.maker?.tenure
    return tenure === undefined || tenure.mayAct() ? undefined : tenure.opened()
  }

  /** It was not run, and is to be sent again. */
  cameBack(): void {
    this.sending = undefined
    this.isAgain = true
    this.rerouted()
  }

  /** It was handed to an activation of this node, or sent, and was not run: it has yet to leave. */
  rerouted(): void {
    const { maker } = this.#wish
    if (maker === undefined || this.#isUnsent) return
    this.#isUnsent = true
    maker.outgoing.returned()
  }

  /** It was not run, and there is no time left to try again. */
  tooLate(): void {
    if (!this.#isOver)
      this.#failFor(new TimeoutError(`${this.id}.${this.method}`, this.#wish.timeoutMs, "not-delivered"))
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
      if (this.#desk.triesAgain(this, error)) return
    }
    this.#failFor(error instanceof CallError && error.cause === undefined ? error : this.#copied(error))
  }

  /** As another node would have sent it: as it is, or as much of it as can be sent. Only its stack is what it was. */
  #copied(error: Error): Error {
    for (const make of [() => error, () => plainError(error)]) {
      try {
        const copy = this.#desk.copied(make())
        if (copy instanceof Error) return withStacksOf(copy, error)
      } catch {}
    }
    return new InvalidMessageError("it failed, and the error cannot cross the wire", "unknown")
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
    const { timeoutMs } = this.#wish
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
    if (this.#end()) this.#wish.resolve?.(value)
  }

  #failFor(error: Error): void {
    const { reject, span } = this.#wish
    if (!this.#isOver) span?.fail(error)
    if (!this.#end()) return
    if (reject !== undefined) reject(error)
    else this.#desk.undelivered(this, error)
  }

  #withdrawn(): Delivery {
    const { sending } = this
    if (sending === undefined) return this.#mayHaveRun ? "unknown" : "not-delivered"
    return sending.withdraw(this)
  }

  #end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    leave(this)
    if (this.#signal !== undefined) offAbort(this.#signal, this)
    this.sending?.ended(this)
    if (this.#wish.maker !== undefined) this.#countEnded(this.#wish.maker)
    this.#wish.span?.end()
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

/** Why what an activation calls does not leave it. */
export function fencedMaker({ id, endedBecause, endCause: cause }: Tenure): FencedError {
  const because = endedBecause ?? "its node waits for its lease"
  return new FencedError(id.toString(), "not-delivered", because, cause && { cause })
}

const NOBODY: readonly NodeId[] = []

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

/** What is to be called, how, and who waits for it. */
export interface CallWish {
  readonly id: ActorId
  readonly key: string
  readonly method: string
  readonly args: readonly unknown[]
  readonly flags: number
  readonly isOneWay: boolean
  readonly chain: readonly string[]
  readonly timeoutMs: number
  /** The activation that makes it; undefined for calls from outside of actors, which pass no door. */
  readonly maker: CallMaker | undefined
  /** Undefined where nothing is recorded. */
  readonly span: Span | undefined
  readonly resolve: ((value: unknown) => void) | undefined
  readonly reject: ((error: unknown) => void) | undefined
}

/** What a call needs of the activation that makes it. */
export interface CallMaker {
  readonly tenure: Tenure
  readonly outgoing: OutgoingCalls
}

/** What a call needs of the bus. */
export interface CallDesk {
  pathOf(call: Call): ActorPath
  /** Throws an `InvalidMessageError` for what could not cross the wire. */
  copied(value: unknown): unknown
  /** It was not run. False if it is to end with this error. */
  triesAgain(call: Call, error: CallError): boolean
  lateAnswer(call: Call, answer: unknown): void
  /** What it waits for, if it is in the mailbox of an activation of this node. */
  hindrance(call: Call): string | undefined
  /** A one-way message came to nothing. */
  undelivered(call: Call, error: Error): void
}

import type { NodeId } from "../address/node-id.js"
import { PlacementError, UnknownActorTypeError } from "../errors/actor-call-errors.js"
import { assert } from "../errors/assert.js"
import type { CallError } from "../errors/call-errors.js"
import type { MonotonicMs } from "../ports/clock.js"
import { whereaboutsIn } from "./placement-answer.js"
import type {
  Commands,
  ConnectionView,
  ReturnedFrom,
  RoutableCall,
  RoutedCall,
  RoutingAnswer,
  RoutingCommand,
  RoutingLimits,
  RoutingState,
} from "./routing-protocol.js"

/**
 * The caller's side of all calls from this node to one actor that does not run here, or is not known to: a
 * decision. It says where each call goes, retries those that were not run, and keeps their order. The driver
 * is `call-router.ts`.
 *
 *     resolving --> open to a node --> settling --> resolving ...
 *         |  ^                             |
 *         |  +-- paused, or held           +--> over
 *         +--> delivered here
 *
 * While the routing is open, calls leave at once. As soon as one of them comes back unrun, later calls queue
 * behind it (settling): all calls in flight have to be answered, or come back too, before it is known which
 * of them have to be resent, and in which order. Only then is the actor resolved again. To resend the first
 * one at once breaks the order:
 *
 *   1. calls 1, 2 and 3 are in flight to node B; B refuses 1, because the actor has moved to C
 *   2. 1 is resent to C, and runs
 *   3. B claims the actor after all, and runs 2 and 3; or it refuses 2, which then reaches C behind a call 4
 *
 * The first call of the queue decides for all: how long to pause, which nodes to exclude. A call whose maker
 * waits for its lease is held at the head of the queue, with all others behind it, for the same reason; a
 * call whose maker was overtaken fails.
 *
 * What a command does may come back to this node's calls at once, so `over` comes first: after it, the next
 * call to the actor begins another routing.
 */
export class CallRouting<C extends RoutableCall> {
  readonly #limits: RoutingLimits
  readonly #connection: ConnectionView<C>
  /** Where calls go while it is open. */
  #node: NodeId | undefined
  #step: "none" | "resolving" | "paused" | "held" | "draining" | "over" = "none"
  /** In the order of their sending. */
  readonly #inFlight: RoutedCall<C>[] = []
  /** In the order in which the calls were made. */
  #queue: RoutedCall<C>[] = []
  #requests = 0

  /** Begins open if the node that has the actor is known; otherwise the first call has it resolved. */
  constructor(limits: RoutingLimits, connection: ConnectionView<C>, known?: NodeId) {
    this.#limits = limits
    this.#connection = connection
    this.#node = known
  }

  get state(): RoutingState {
    if (this.#step !== "none") return this.#step
    return this.#node === undefined ? "settling" : "open"
  }

  get inFlight(): number {
    return this.#inFlight.length
  }

  get queued(): number {
    return this.#queue.length
  }

  /** The order of the first call that has not ended; infinity if there is none. */
  get oldest(): number {
    const sent = this.#inFlight[0]?.call.order ?? Number.POSITIVE_INFINITY
    const queued = this.#queue.find(({ call }) => !call.isOver)?.call.order ?? Number.POSITIVE_INFINITY
    return Math.min(sent, queued)
  }

  /** A call was made. */
  called(routed: RoutedCall<C>): Commands<C> {
    assert(this.#step !== "over", "a routing that is over takes no calls")
    if (this.#node !== undefined && this.#step === "none") return [this.#send(routed, this.#node)]
    if (this.#queue.length >= this.#limits.capacity) return [{ kind: "fail", routed, because: "queue-full" }]
    routed.hasWaited = true
    this.#queue.push(routed)
    return this.#next()
  }

  /**
   * An activation of this node had these calls, and did not run them. `isReleasing`: its placement is still
   * being released. `isUnused`: it ended without having run anything, as the next one may too.
   */
  returned(calls: readonly RoutedCall<C>[], { isReleasing, isUnused }: ReturnedFrom): Commands<C> {
    assert(this.#step !== "over", "a routing that is over takes no calls")
    this.#node = undefined
    if (isUnused) for (const routed of calls) routed.attempts += 1
    this.#enqueue(calls)
    if (isReleasing && (this.#step === "none" || this.#step === "draining")) this.#step = "held"
    else if (this.#step === "draining") this.#step = "none"
    return this.#next()
  }

  /** What a `hold` waited for has happened, or the release of the last activation has ended. */
  released(): Commands<C> {
    if (this.#step !== "held") return NONE
    this.#step = "none"
    return this.#next()
  }

  /** A pause is over. */
  tick(): Commands<C> {
    if (this.#step !== "paused") return NONE
    this.#step = "none"
    const [first, commands] = this.#first()
    return [first === undefined ? this.#end() : this.#resolve(first), ...commands]
  }

  /**
   * The answer to the `resolve` of that number. Another one may have been asked since, or none be wanted any
   * more.
   */
  resolved(request: number, answer: RoutingAnswer): Commands<C> {
    if (this.#step !== "resolving" || request !== this.#requests) return NONE
    switch (answer.kind) {
      case "node":
        this.#node = answer.node
        this.#step = "draining"
        return this.#drain()
      case "here":
        return this.activatedHere()
      case "blocked":
        return this.#block()
      case "refused":
        return this.#refused(answer)
    }
  }

  /** The actor runs here. Calls that are in flight elsewhere have to come back first. */
  activatedHere(): Commands<C> {
    if (this.#inFlight.length > 0 || this.#step === "over") return NONE
    this.#node = undefined
    this.#step = "none"
    const [, commands] = this.#first()
    const held = this.#queue.findIndex(({ call }) => call.exit !== "open")
    const delivered = held < 0 ? this.#queue : this.#queue.slice(0, held)
    this.#queue = held < 0 ? [] : this.#queue.slice(held)
    const next = this.#next()
    return [...next, ...commands, ...delivered.map((routed) => ({ kind: "deliver", routed }) as const)]
  }

  /** A `send` was done: the call is with the connection, which may have refused it since. */
  sent(): Commands<C> {
    return this.#step === "draining" ? this.#drain() : NONE
  }

  /** The call was not run, and the error says that it is to be retried. */
  cameBack(routed: RoutedCall<C>, error: CallError, now: MonotonicMs): Commands<C> {
    this.#node = undefined
    if (this.#step === "draining") this.#step = "none"
    this.#remove(routed)
    const learned = learn(routed, error, this.#limits.maxForwards)
    if (routed.isLate(now)) return [...learned, ...this.#next(), { kind: "fail", routed, because: "late" }]
    this.#resend(routed)
    return [...learned, ...this.#recallBehind(routed), ...this.#next()]
  }

  /** The call has ended, whether it was in flight or queued. */
  ended(routed: RoutedCall<C>): Commands<C> {
    this.#remove(routed)
    return this.#inFlight.length === 0 && this.#step === "none" ? this.#next() : NONE
  }

  /**
   * The node's record is gone. Calls that have not left are resent; others may have been run there. A call
   * that left over a connection with the next process at that address waits for the answer of that one.
   */
  nodeGone(node: NodeId): Commands<C> {
    const sent = this.#inFlight.filter(({ sentTo }) => sentTo?.equals(node))
    if (this.#node?.equals(node) === true) this.#node = undefined
    else if (sent.length === 0) return NONE
    if (this.#node === undefined && this.#step === "draining") this.#step = "none"
    const recalls: RoutingCommand<C>[] = []
    const failures: RoutingCommand<C>[] = []
    for (const routed of sent) {
      const place = this.#connection.placeOf(routed.call, node)
      if (place === "queued") recalls.push(this.#recall(routed))
      else if (place === "unknown" || place.equals(node)) {
        this.#remove(routed)
        failures.push({ kind: "fail", routed, because: "node-gone" })
      } else routed.sentTo = place
    }
    return [...recalls, ...this.#next(), ...failures]
  }

  /** Makers were overtaken: those of their calls that have not left this node fail. */
  makersOvertaken(): Commands<C> {
    const commands: RoutingCommand<C>[] = []
    for (const routed of [...this.#inFlight]) {
      if (routed.call.exit !== "shut" || !this.#isQueuedOutside(routed)) continue
      const node = routed.sentTo as NodeId
      this.#remove(routed)
      commands.push({ kind: "recall", routed, node }, { kind: "fail", routed, because: "overtaken" })
    }
    const [, overtaken] = this.#first()
    return [...this.#next(), ...commands, ...overtaken]
  }

  /** The system stops. */
  stop(): Commands<C> {
    this.#step = "over"
    const all = [...this.#inFlight, ...this.#queue]
    this.#queue = []
    return all.map((routed) => ({ kind: "fail", routed, because: "stopped" }))
  }

  /**
   * Resolves the actor as soon as nothing is in flight and something is queued; ends where nothing is left.
   */
  #next(): Commands<C> {
    if (this.#step !== "none" || this.#inFlight.length > 0) return NONE
    const [first, commands] = this.#first()
    if (first === undefined) return [this.#end(), ...commands]
    this.#node = undefined
    if (first.call.exit === "waits") {
      this.#step = "held"
      return [{ kind: "hold", routed: first }, ...commands]
    }
    const ms = pauseBefore(first.attempts)
    if (ms === 0) return [this.#resolve(first), ...commands]
    this.#step = "paused"
    return [{ kind: "wait", ms }, ...commands]
  }

  /**
   * The first call of the queue, once those that have ended are out of it; and what fails those that were
   * overtaken.
   */
  #first(): readonly [RoutedCall<C> | undefined, Commands<C>] {
    let overtaken: RoutingCommand<C>[] | undefined
    if (this.#queue.some(({ call }) => call.isOver || call.exit === "shut")) {
      overtaken = this.#queue
        .filter(({ call }) => !call.isOver && call.exit === "shut")
        .map((routed) => ({ kind: "fail", routed, because: "overtaken" }))
      this.#queue = this.#queue.filter(({ call }) => !call.isOver && call.exit !== "shut")
    }
    return [this.#queue[0], overtaken ?? NONE]
  }

  #resolve(first: RoutedCall<C>): RoutingCommand<C> {
    this.#step = "resolving"
    this.#requests += 1
    return { kind: "resolve", request: this.#requests, excluded: first.refusedBy }
  }

  /**
   * Sends the queue, one call at a time: the connection may refuse one at once, and then the rest stays here.
   */
  #drain(): Commands<C> {
    const [first, commands] = this.#first()
    if (first === undefined) {
      this.#step = "none"
      return this.#inFlight.length > 0 ? commands : [this.#end(), ...commands]
    }
    this.#queue.shift()
    return [this.#send(first, this.#node as NodeId), ...commands]
  }

  #send(routed: RoutedCall<C>, node: NodeId): RoutingCommand<C> {
    routed.sentTo = node
    this.#inFlight.push(routed)
    return { kind: "send", routed, node }
  }

  /** The actor cannot be found for now. */
  #block(): Commands<C> {
    this.#step = "none"
    for (const routed of this.#queue) routed.attempts += 1
    return this.#next()
  }

  #refused({ error, hosts }: RoutingAnswer & { kind: "refused" }): Commands<C> {
    this.#step = "none"
    const [first, commands] = this.#first()
    if (first === undefined) return [...this.#next(), ...commands]
    // Nodes that refused may have changed their minds by the time that no other is left.
    const hasRefused = first.refusedBy.length > 0
    first.refusedBy = NOBODY
    const isNobody = error instanceof UnknownActorTypeError
    if (error === undefined || hasRefused || (isNobody && hosts === "were-seen")) {
      return [...this.#block(), ...commands]
    }
    const all = this.#queue
    this.#queue = []
    const failures = all.map(
      (routed): RoutingCommand<C> =>
        isNobody && hosts === "not-awaited"
          ? { kind: "fail", routed, because: "stopped" }
          : { kind: "fail", routed, because: "refused", error },
    )
    return [this.#end(), ...commands, ...failures]
  }

  /**
   * Takes back what still waits for the connection behind a call that came back. If that one came back from
   * there too, the receiver has not seen it, and would not refuse what was sent behind it. Calls leave in
   * order, so this ends at the first that has left.
   */
  #recallBehind({ call }: RoutedCall<C>): Commands<C> {
    const commands: RoutingCommand<C>[] = []
    for (let last = this.#inFlight.at(-1); last !== undefined; last = this.#inFlight.at(-1)) {
      if (last.call.order < call.order || !this.#isQueuedOutside(last)) break
      commands.push(this.#recall(last))
    }
    return commands
  }

  #isQueuedOutside({ call, sentTo }: RoutedCall<C>): boolean {
    return this.#connection.placeOf(call, sentTo as NodeId) === "queued"
  }

  #recall(routed: RoutedCall<C>): RoutingCommand<C> {
    const node = routed.sentTo as NodeId
    this.#remove(routed)
    this.#resend(routed)
    return { kind: "recall", routed, node }
  }

  #resend(routed: RoutedCall<C>): void {
    routed.isResent = true
    routed.sentTo = undefined
    this.#enqueue([routed])
  }

  #enqueue(calls: readonly RoutedCall<C>[]): void {
    for (const routed of calls) routed.hasWaited = true
    this.#queue.push(...calls)
    this.#queue.sort((a, b) => a.call.order - b.call.order)
  }

  #remove(routed: RoutedCall<C>): void {
    const at = this.#inFlight.indexOf(routed)
    if (at === 0) this.#inFlight.shift()
    else if (at > 0) this.#inFlight.splice(at, 1)
  }

  #end(): RoutingCommand<C> {
    this.#step = "over"
    return OVER
  }
}

/** What is learned from the error that a call came back with. */
function learn<C extends RoutableCall>(
  routed: RoutedCall<C>,
  error: CallError,
  maxForwards: number,
): Commands<C> {
  if (!(error instanceof PlacementError)) {
    routed.attempts += 1
    return NONE
  }
  const { problem } = error
  const where = problem === "moved" ? whereaboutsIn(error.where) : undefined
  if (where !== undefined) {
    const { epoch } = error.where as { readonly epoch: string }
    routed.forwards += 1
    if (routed.forwards <= maxForwards) return [{ kind: "learn", epoch, where }]
    // The call runs after an actor that keeps moving: the store is asked, after a pause.
    routed.forwards = 0
    routed.attempts += 1
    return [{ kind: "learn", epoch, where }, FORGET]
  }
  routed.attempts += 1
  if (problem === "not-here" && routed.sentTo !== undefined) {
    routed.refusedBy = [...routed.refusedBy, routed.sentTo]
  }
  return [FORGET]
}

/** At once the first time, then after growing pauses: whatever is in the way takes time to go. */
function pauseBefore(attempts: number): number {
  return attempts === 0 ? 0 : Math.min(10 * 2 ** Math.min(attempts, 6), 500)
}

const NONE: readonly never[] = []
const NOBODY: readonly NodeId[] = []
const OVER = { kind: "over" } as const
const FORGET = { kind: "forget" } as const

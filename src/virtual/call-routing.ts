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
 * Decides the routing of all calls from this node to one actor that does not run here, or is not known to:
 * where each call goes, which calls are retried, and in which order. The driver is `call-router.ts`.
 *
 *     resolving --> open to a node --> settling --> resolving ...
 *         |  ^                             |
 *         |  +-- paused, or held           +--> over
 *         +--> delivered here
 *
 * While the routing is open, calls are sent at once. As soon as one of them comes back without having run,
 * later calls queue behind it (settling): all calls in flight have to be answered, or come back too, before
 * it is known which of them have to be resent, and in which order. Only then is the actor resolved again.
 * Resending the first one at once would break the order:
 *
 *   1. calls 1, 2 and 3 are in flight to node B; B refuses 1, because the actor has moved to C
 *   2. 1 is resent to C, and runs
 *   3. B claims the actor after all, and runs 2 and 3; or it refuses 2, which then reaches C behind a call 4
 *
 * The first call of the queue determines the pause and the excluded nodes for all. A call whose maker may not
 * act until its lease is renewed is held at the head of the queue, with all others behind it, to keep the
 * order; a call whose maker was superseded fails.
 *
 * Carrying out a command may cause new calls to the same actor, so `over` precedes the other commands: after
 * it, the next call to the actor starts a new routing.
 */
export class CallRouting<C extends RoutableCall> {
  readonly #limits: RoutingLimits
  readonly #connection: ConnectionView<C>
  /** The node to which calls are sent while the routing is open. */
  #node: NodeId | undefined
  #step: "none" | "resolving" | "paused" | "held" | "draining" | "over" = "none"
  /** Calls in flight, in the order in which they were sent. */
  readonly #inFlight: RoutedCall<C>[] = []
  /** Queued calls, in the order in which they were made. */
  #queue: RoutedCall<C>[] = []
  #requests = 0

  /** Starts open if the node of the actor is known; otherwise the first call resolves the actor. */
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

  /** Handles a new call. */
  called(routed: RoutedCall<C>): Commands<C> {
    assert(this.#step !== "over", "a routing that has ended accepts no calls")
    if (this.#node !== undefined && this.#step === "none") return [this.#send(routed, this.#node)]
    if (this.#queue.length >= this.#limits.capacity) return [{ kind: "fail", routed, because: "queue-full" }]
    routed.hasWaited = true
    // Mostly there is just one, and an array that grows has room for many.
    if (this.#queue.length === 0) this.#queue = [routed]
    else this.#queue.push(routed)
    return this.#next()
  }

  /**
   * Handles calls that an activation of this node accepted and did not run. `isReleasing`: its placement is
   * still being released. `isUnused`: the activation ended before it ran any call, as the next may too.
   */
  returned(calls: readonly RoutedCall<C>[], { isReleasing, isUnused }: ReturnedFrom): Commands<C> {
    assert(this.#step !== "over", "a routing that has ended accepts no calls")
    this.#node = undefined
    if (isUnused) for (const routed of calls) routed.attempts += 1
    this.#enqueue(calls)
    if (isReleasing && (this.#step === "none" || this.#step === "draining")) this.#step = "held"
    else if (this.#step === "draining") this.#step = "none"
    return this.#next()
  }

  /** Handles the end of a `hold`, or of the release of the last activation. */
  released(): Commands<C> {
    if (this.#step !== "held") return NONE
    this.#step = "none"
    return this.#next()
  }

  /** Handles the end of a pause. */
  tick(): Commands<C> {
    if (this.#step !== "paused") return NONE
    this.#step = "none"
    const [first, commands] = this.#first()
    return [first === undefined ? this.#end() : this.#resolve(first), ...commands]
  }

  /** Handles the answer to a `resolve`, unless a later one was issued or the answer is no longer needed. */
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

  /** Delivers the queue to the activation of this node, unless calls to another node are still in flight. */
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

  /** Handles the end of a `send`: the connection has accepted the call, or has refused it. */
  sent(): Commands<C> {
    return this.#step === "draining" ? this.#drain() : NONE
  }

  /** Handles a call that was not run and ended with a retryable error. */
  cameBack(routed: RoutedCall<C>, error: CallError, now: MonotonicMs): Commands<C> {
    this.#node = undefined
    if (this.#step === "draining") this.#step = "none"
    this.#remove(routed)
    const learned = learn(routed, error, this.#limits.maxForwards)
    if (routed.isLate(now)) return [...learned, ...this.#next(), { kind: "fail", routed, because: "late" }]
    this.#resend(routed)
    return [...learned, ...this.#recallBehind(routed), ...this.#next()]
  }

  /** Handles the end of a call that was in flight or queued. */
  ended(routed: RoutedCall<C>): Commands<C> {
    this.#remove(routed)
    return this.#inFlight.length === 0 && this.#step === "none" ? this.#next() : NONE
  }

  /**
   * Handles the removal of a node's record. Calls that have not left this node are resent; others may have
   * run there, and fail. A call that was sent to the next process at the same address waits for its answer,
   * as does one that a node which has left (`hasLeft`) may still answer: its last answers come after its
   * record is gone, and its goodbye says which calls it has not received.
   */
  nodeGone(node: NodeId, hasLeft: boolean): Commands<C> {
    const sent = this.#inFlight.filter(({ sentTo }) => sentTo?.equals(node))
    if (this.#node?.equals(node) === true) this.#node = undefined
    else if (sent.length === 0) return NONE
    if (this.#node === undefined && this.#step === "draining") this.#step = "none"
    const recalls: RoutingCommand<C>[] = []
    const failures: RoutingCommand<C>[] = []
    for (const routed of sent) {
      const place = this.#connection.placeOf(routed.call, node)
      if (place === "queued") recalls.push(this.#recall(routed))
      else if (hasLeft && place !== "unknown" && place.equals(node)) continue
      else if (place === "unknown" || place.equals(node)) {
        this.#remove(routed)
        failures.push({ kind: "fail", routed, because: "node-gone" })
      } else routed.sentTo = place
    }
    return [...recalls, ...this.#next(), ...failures]
  }

  /** Fails the calls of superseded makers that have not left this node. */
  makersSuperseded(): Commands<C> {
    const commands: RoutingCommand<C>[] = []
    for (const routed of [...this.#inFlight]) {
      if (routed.call.exit !== "shut" || !this.#isQueuedOutside(routed)) continue
      const node = routed.sentTo as NodeId
      this.#remove(routed)
      commands.push({ kind: "recall", routed, node }, { kind: "fail", routed, because: "superseded" })
    }
    const [, superseded] = this.#first()
    return [...this.#next(), ...commands, ...superseded]
  }

  /** Fails all calls, as the system stops. */
  stop(): Commands<C> {
    this.#step = "over"
    const all = [...this.#inFlight, ...this.#queue]
    this.#queue = []
    return all.map((routed) => ({ kind: "fail", routed, because: "stopped" }))
  }

  /** Resolves the actor if calls are queued and none is in flight; ends the routing if no call is left. */
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
   * Removes ended calls and calls of superseded makers from the queue. Returns the first call that remains,
   * and the commands that fail the latter.
   */
  #first(): readonly [RoutedCall<C> | undefined, Commands<C>] {
    let superseded: RoutingCommand<C>[] | undefined
    if (this.#queue.some(({ call }) => call.isOver || call.exit === "shut")) {
      superseded = this.#queue
        .filter(({ call }) => !call.isOver && call.exit === "shut")
        .map((routed) => ({ kind: "fail", routed, because: "superseded" }))
      this.#queue = this.#queue.filter(({ call }) => !call.isOver && call.exit !== "shut")
    }
    return [this.#queue[0], superseded ?? NONE]
  }

  #resolve(first: RoutedCall<C>): RoutingCommand<C> {
    this.#step = "resolving"
    this.#requests += 1
    return { kind: "resolve", request: this.#requests, excluded: first.refusedBy }
  }

  /** Sends the first call of the queue. If the connection refuses it, the others stay in the queue. */
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

  /** Retries after a pause, as the actor cannot be resolved at the moment. */
  #block(): Commands<C> {
    this.#step = "none"
    for (const routed of this.#queue) routed.attempts += 1
    return this.#next()
  }

  #refused({ error, hosts }: RoutingAnswer & { kind: "refused" }): Commands<C> {
    this.#step = "none"
    const [first, commands] = this.#first()
    if (first === undefined) return [...this.#next(), ...commands]
    // No other node is left. The nodes that refused the call may accept it now.
    const hasRefused = first.refusedBy.length > 0
    first.refusedBy = NO_NODES
    const isUnhosted = error instanceof UnknownActorTypeError
    if (error === undefined || hasRefused || (isUnhosted && hosts === "were-seen")) {
      return [...this.#block(), ...commands]
    }
    const all = this.#queue
    this.#queue = []
    const failures = all.map(
      (routed): RoutingCommand<C> =>
        isUnhosted && hosts === "not-awaited"
          ? { kind: "fail", routed, because: "stopped" }
          : { kind: "fail", routed, because: "refused", error },
    )
    return [this.#end(), ...commands, ...failures]
  }

  /**
   * Recalls the calls that are queued for the connection behind a call that came back. If the connection
   * itself returned that call, the receiver has not seen it, and would not refuse the calls behind it. Calls
   * leave in order, so this stops at the first that has left.
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

/** Updates the call, and returns what the cache has to learn or forget, after a retryable error. */
function learn<C extends RoutableCall>(
  routed: RoutedCall<C>,
  error: CallError,
  maxForwards: number,
): Commands<C> {
  if (!(error instanceof PlacementError)) {
    routed.attempts += 1
    return isPowerOfTwo(routed.attempts) && routed.attempts > 2 ? [FORGET] : NONE
  }
  const { problem } = error
  const where = problem === "moved" ? whereaboutsIn(error.where) : undefined
  if (where !== undefined) {
    const { epoch, isShard } = error.where as { readonly epoch: string; readonly isShard?: unknown }
    const learned = { kind: "learn", epoch, where, isShard: isShard === true } as const
    routed.forwards += 1
    if (routed.forwards <= maxForwards) return [learned]
    // The actor keeps moving while the call follows it: reads the store, after a pause.
    routed.forwards = 0
    routed.attempts += 1
    return [learned, FORGET]
  }
  routed.attempts += 1
  if (problem === "not-here" && routed.sentTo !== undefined) {
    routed.refusedBy = [...routed.refusedBy, routed.sentTo]
  }
  return [FORGET]
}

/**
 * A node that cannot be reached does not say that the actor is elsewhere by now, so the store is read: after
 * 4 attempts, 8, 16 and so on, as thousands of calls may wait for a node that is down for a moment.
 */
function isPowerOfTwo(attempts: number): boolean {
  return (attempts & (attempts - 1)) === 0
}

/** Returns 0 for the first attempt, and then an exponentially growing pause. */
function pauseBefore(attempts: number): number {
  return attempts === 0 ? 0 : Math.min(10 * 2 ** Math.min(attempts, 6), 500)
}

const NONE: readonly never[] = []
const NO_NODES: readonly NodeId[] = []
const OVER = { kind: "over" } as const
const FORGET = { kind: "forget" } as const

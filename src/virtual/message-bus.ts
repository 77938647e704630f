import type { DeadLetters } from "../actor/dead-letters.js"
import type { Deadlines } from "../actor/deadlines.js"
import type { InternalRef } from "../actor/internal-ref.js"
import type { ActorId } from "../address/actor-id.js"
import type { ActorPath } from "../address/actor-path.js"
import { NodeId } from "../address/node-id.js"
import {
  ActivationError,
  PlacementError,
  UnknownActorTypeError,
  type UnknownMethodError,
} from "../errors/actor-call-errors.js"
import {
  ActorStoppedError,
  type CallError,
  type Delivery,
  FencedError,
  NodeUnreachableError,
  OverloadedError,
} from "../errors/call-errors.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { Answer, PlacementWish, Refused } from "../placement/resolution.js"
import type { Clock, MonotonicMs } from "../ports/clock.js"
import type { TraceContext } from "../ports/telemetry.js"
import type { Whereabouts } from "../registry/placement-cache.js"
import { RemoteRef } from "../remote/remote-ref.js"
import { type Extras, LOCAL_ONLY } from "../serialization/envelope.js"
import type { Activation } from "./activation.js"
import { Call, type CallDesk, type CallWish } from "./call.js"
import type { Catalog } from "./catalog.js"
import { AGAIN, type CallMessage, Guest, ONE_WAY_CALL } from "./guest.js"
import type { Invocation } from "./invocation.js"
import { Reception } from "./reception.js"
import { Route, type RouteBus } from "./route.js"
import { Settling } from "./settling.js"
import { MOST_WAITING, Starts } from "./starts.js"

/**
 * Brings every call to its actor, wherever that is, and its answer back; each ends exactly once.
 *
 * Calls of this node go to the activation, where the actor runs here, or take a route.
 * Calls from other nodes come in for an activation of this node; where there is none, this node finds out whether there is to be one, and
 * otherwise says where the store has the actor. It sends nothing on: whoever made a call keeps its order and its time, and
 * tries again where nothing was run.
 */
export class MessageBus implements CallDesk, RouteBus {
  readonly mailboxCapacity: number
  readonly #tools: BusTools
  /** By the keys of their actors. Where there is none, calls go to the activation of this node. */
  readonly #routes = new Map<string, Route>()
  readonly #receptions = new Map<string, Reception>()
  readonly #starts = new Starts()
  #calls = 0
  #settling: Settling | undefined
  #isLeaving = false
  #isStopped = false

  constructor(tools: BusTools) {
    this.#tools = tools
    this.mailboxCapacity = tools.mailboxCapacity
  }

  /** How many actors are being looked for, or called elsewhere. */
  get routes(): number {
    return this.#routes.size
  }

  /** How many actors that do not run here are being called by other nodes. */
  get receptions(): number {
    return this.#receptions.size
  }

  call(wish: CallWish, signal?: AbortSignal): void {
    this.#calls += 1
    const call = new Call(this, wish, this.#calls)
    if (signal !== undefined) {
      if (signal.aborted) return call.aborted(signal)
      call.listenTo(signal)
    }
    this.#tools.deadlines.add(call, wish.timeoutMs)
    // What takes another way goes ahead, also of what could go to the activation by now.
    const route = this.#routes.size === 0 ? undefined : this.#routes.get(call.key)
    if (this.#isStopped) return call.abandon()
    if (route !== undefined) return route.accept(call)
    const activation = this.#tools.catalog.get(call.key)
    if (activation !== undefined && call.exits()) return activation.accept(call)
    if (!call.isOver) this.#routeTo(call.id, call.key).accept(call)
  }

  /** A call from another node. */
  receive(guest: Guest): void {
    const activation = this.#tools.catalog.get(guest.key)
    if (activation !== undefined) return activation.accept(guest)
    const problem = guest.idProblem
    if (problem !== undefined) return guest.fail(problem)
    const known = this.#receptions.get(guest.key)
    if (known !== undefined) return known.accept(guest)
    // Before anything is claimed, or begun, for its sake.
    const unknown = this.#tools.methodProblem(guest)
    if (unknown !== undefined) return guest.fail(unknown)
    this.#settling?.disturb()
    const reception = new Reception(guest, this.mailboxCapacity)
    const begins = this.#starts.enter(reception)
    if (begins === "full") {
      return guest.fail(
        new OverloadedError(`the node of ${guest.id}`, MOST_WAITING, "actors to start for one caller"),
      )
    }
    this.#receptions.set(guest.key, reception)
    reception.accept(guest)
    if (begins === "now") void this.#receiveAt(reception)
  }

  /**
   * An activation is there from now on. What waits to know where the actor is waits in its mailbox instead, ahead of what comes
   * next; calls that are on another way find it by themselves.
   */
  created(activation: Activation): void {
    this.#routes.get(activation.key)?.endsHere(activation)
    this.#receptions.get(activation.key)?.handOver(activation)
  }

  /**
   * These are for the next activation, wherever that is. It is looked for once the last one is out of the way; and after a while where that
   * one was `unused`, or actors that end as soon as they begin would be all that this process does.
   */
  reroute(
    key: string,
    invocations: readonly Invocation[],
    {
      ready,
      unused = false,
    }: { readonly ready?: Promise<unknown> | undefined; readonly unused?: boolean } = {},
  ): void {
    const calls = invocations.filter((one): one is Call => one instanceof Call)
    for (const call of calls) call.rerouted()
    if (unused) for (const call of calls) call.attempts += 1
    const [first] = calls
    if (first !== undefined) {
      const route = this.#routes.get(key) ?? this.#routeTo(first.id, key)
      route.acceptFirst(calls, ready)
    }
    for (const one of invocations) {
      if (!(one instanceof Guest)) continue
      if (unused) one.fail(this.#notHere(one.id, "it ended as soon as it had begun"))
      else this.receive(one)
    }
  }

  /** The node's record is gone. */
  nodeGone(node: NodeId): void {
    for (const route of [...this.#routes.values()]) {
      route.nodeGone(node, (call) =>
        call.failForGood(
          new NodeUnreachableError(node.address, "unknown", "its node is gone, and did not answer"),
        ),
      )
    }
  }

  /** This node was fenced: what its actors have called and has not left does not leave. */
  makersOvertaken(): void {
    for (const route of [...this.#routes.values()]) route.makersOvertaken()
  }

  /** Nothing is started here any more: calls to actors that no other node hosts have nowhere to go. */
  leave(): void {
    this.#isLeaving = true
  }

  /**
   * Resolves when whoever called this node has its answer, what was called from here before this has ended, and nobody has called
   * for a moment: others hear late that nothing is here any more.
   */
  settled(quietMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#settling = new Settling(this.#calls, quietMs, this.#tools.clock, resolve)
      this.#settle()
    })
  }

  stop(): void {
    this.#settling?.end()
    this.#isStopped = true
    for (const route of this.#routes.values()) route.stop()
    this.#routes.clear()
    for (const reception of this.#receptions.values())
      reception.refuse(this.#notHere(reception.id, "it is stopping"))
  }

  find(route: Route, first: Call): void {
    const { refusedBy } = first
    this.#tools.resolve(route.id, refusedBy.length === 0 ? NO_WISH : { except: refusedBy }, (answer) =>
      this.#found(route, first, answer),
    )
  }

  send(call: Call, node: NodeId): void {
    const { id, method, args, isOneWay } = call
    this.countTime(call)
    const kind = (isOneWay ? ONE_WAY_CALL : 0) | (call.isAgain ? AGAIN : 0)
    const message: CallMessage =
      kind === 0 ? [id.type, id.key, method, args] : [id.type, id.key, method, args, kind]
    const gate = this.#tools.gateOf(node)
    if (gate === undefined) {
      return call.failForGood(new NodeUnreachableError(node.address, "not-delivered", NOT_LISTENING))
    }
    const refused = gate.request(call, message as never, this.#extrasOf(call))
    if (refused !== undefined) call.fail(refused)
  }

  countTime(call: Call): void {
    call.countTimeAt(this.#now)
  }

  askedOf(call: Call, node: NodeId): NodeId | undefined {
    const gate = this.#tools.gateOf(node)
    return gate instanceof RemoteRef ? gate.askedOf(call) : undefined
  }

  withdraw(call: Call, node: NodeId): Delivery {
    return this.#tools.gateOf(node)?.withdraw(call) ?? "unknown"
  }

  setTimer(delayMs: number, fire: () => void) {
    return this.#tools.clock.setTimer(delayMs, fire)
  }

  callEnded(): void {
    if (this.#settling !== undefined) this.#settle()
  }

  over(route: Route): void {
    if (this.#routes.get(route.key) === route) this.#routes.delete(route.key)
    this.#settle()
  }

  pathOf({ id }: Call): ActorPath {
    return this.#tools.pathOf(id)
  }

  triesAgain(call: Call, error: CallError): boolean {
    if ((call.flags & LOCAL_ONLY) !== 0) return false
    if (call.isOvertaken) {
      call.endIfOvertaken()
      return true
    }
    if (error instanceof PlacementError) this.#learn(call, error)
    else if (!isOfTheWay(error)) return false
    else call.attempts += 1
    // What waited for a connection has its time kept there; others that were sent behind it may have more, and are under way.
    if (call.isLate(this.#now)) {
      call.tooLate()
      return true
    }
    const { sending } = call
    if (sending instanceof Route) sending.cameBack(call)
    else this.reroute(call.key, [call])
    return true
  }

  lateAnswer(call: Call, answer: unknown): void {
    this.#tools.deadLetters.add(answer, call, "ask-ended")
  }

  hindrance({ key }: Call): string | undefined {
    return this.#routes.has(key) ? undefined : this.#tools.catalog.get(key)?.hindrance
  }

  copied(value: unknown): unknown {
    return this.#tools.copied(value)
  }

  undelivered(call: Call, error: Error): void {
    this.#tools.undelivered(call, error)
  }

  get #now(): MonotonicMs {
    return this.#tools.clock.monotonicMs()
  }

  #settle(): void {
    const settling = this.#settling
    if (settling === undefined || this.#receptions.size > 0) return
    for (const route of this.#routes.values()) if (route.oldest <= settling.lastCall) return
    settling.isQuiet()
  }

  #routeTo(id: ActorId, key: string): Route {
    const route = new Route(id, key, this)
    this.#routes.set(key, route)
    return route
  }

  #found(route: Route, first: Call, answer: Answer): void {
    switch (answer.kind) {
      case "local": {
        const activation = this.#tools.catalog.get(route.key)
        // It has ended again in the meantime.
        if (activation === undefined) return route.isBlocked()
        return route.leadsHere(activation)
      }
      case "remote":
        // An earlier life of this node, which is still on record: nobody has the actor, and nobody may claim it yet.
        if (this.#tools.isThisProcess(answer.node)) return route.isBlocked()
        if (this.#tools.isAtThisAddress(answer.node)) return this.#foundAtThisAddress(route, answer.node)
        return route.leadsTo(answer.node)
      case "refused": {
        const { refusal } = answer
        if (refusal.reason === "no-authority" && refusal.cause !== undefined) {
          this.#tools.strategyFailed(route.id, refusal.cause)
        }
        const error = refusalError(route.id, answer)
        // Those who refused may have changed their minds by the time that nobody else is left.
        const isNobody = error instanceof UnknownActorTypeError
        const isForGood = error !== undefined && first.refusedBy.length === 0
        first.refusedBy = NOBODY
        if (isForGood && isNobody && this.#isLeaving) return route.isAbandoned()
        return isForGood && !(isNobody && this.#tools.wasHosted(route.id.type))
          ? route.leadsNowhere(error)
          : route.isBlocked()
      }
    }
  }

  /** Another process says that it is at this node's address: one before this one, whose lease runs out; or one that lives. */
  #foundAtThisAddress(route: Route, node: NodeId): void {
    if (!this.#tools.isAlive(node)) return route.isBlocked()
    const problem = this.#tools.gateOf(node) === undefined ? NOT_LISTENING : SHARED_ADDRESS
    route.leadsNowhere(new NodeUnreachableError(node.address, "not-delivered", problem))
  }

  /** Somebody thinks that the actor is here, or is to be. What the cache knows may be older than that, so the store is asked. */
  async #receiveAt(reception: Reception): Promise<void> {
    const { id, key } = reception
    const settle = (end: () => void) => {
      this.#receptions.delete(key)
      end()
      this.#beginNext(reception)
      this.#settle()
    }
    if (this.#tools.isPlacedElsewhere(id)) {
      try {
        await this.#tools.read(id)
      } catch {
        return settle(() => reception.refuse(this.#notHere(id, "the store does not answer")))
      }
    }
    this.#tools.resolve(id, { here: true }, (answer) =>
      settle(() => {
        if (answer.kind === "remote") return reception.refuse(this.#moved(id, answer.node))
        const activation = answer.kind === "local" ? this.#tools.catalog.get(key) : undefined
        if (activation !== undefined) return reception.handOver(activation)
        const error = answer.kind === "refused" ? refusalError(id, answer) : undefined
        reception.refuse(
          error instanceof ActivationError ? error : this.#notHere(id, "this node does not take it"),
        )
      }),
    )
  }

  /** In a microtask of its own, for there may be thousands, one after the other, that are settled as soon as they are begun. */
  #beginNext(ended: Reception): void {
    let next = this.#starts.ended(ended)
    // Those who called may have given up while it waited, or have found the actor.
    while (next?.isWanted === false) {
      this.#receptions.delete(next.key)
      next = this.#starts.ended(next)
    }
    if (next !== undefined) void Promise.resolve(next).then((one) => this.#receiveAt(one))
  }

  #moved(id: ActorId, node: NodeId): PlacementError {
    const { epoch, where } = this.#tools.cached(id)
    const revision = where?.kind === "placed" ? where.generation : (where?.revision ?? 0)
    const named = where?.kind === "placed" ? where.node : node
    return new PlacementError(id.toString(), "moved", `it is on ${named}`, {
      node: named.toString(),
      epoch,
      revision,
    })
  }

  #notHere(id: ActorId, detail: string): PlacementError {
    return new PlacementError(id.toString(), "not-here", detail)
  }

  #learn(call: Call, { problem, where }: PlacementError): void {
    const { sentTo } = call
    const told = problem === "moved" && where ? whereabouts(where) : undefined
    if (told !== undefined && where) {
      call.forwards += 1
      this.#tools.misdirected(call.id, where.epoch, told)
      if (call.forwards <= this.#tools.maxForwards) return
      // It runs after something that moves: the store is asked, after a while.
      call.forwards = 0
      call.attempts += 1
      this.#tools.forget(call.id)
      return
    }
    call.attempts += 1
    if (problem === "not-here" && sentTo !== undefined) call.refusedBy = [...call.refusedBy, sentTo]
    this.#tools.forget(call.id)
  }

  #extrasOf({ flags, chain, trace }: Call): Extras | undefined {
    if (flags === 0 && chain.length === 0 && trace === undefined) return undefined
    return { flags, chain, trace: sendable(trace) }
  }
}

/** It comes from an adapter of the user's; one that is none would make the message unreadable. */
function sendable(trace: TraceContext | undefined): TraceContext | undefined {
  if (trace === undefined) return undefined
  return /^[0-9a-f]{32}$/.test(trace.traceId) && /^[0-9a-f]{16}$/.test(trace.spanId) ? trace : undefined
}

const NOT_LISTENING = "this system talks to no others; set listen"
const SHARED_ADDRESS =
  "another process has joined the cluster with this node's own address; give each node its own, with listen.port or advertise"

const NO_WISH: PlacementWish = {}
const NOBODY: readonly NodeId[] = []

/** Undefined for what nobody can have meant: it comes from another node. */
function whereabouts({
  node,
  epoch,
  revision,
}: NonNullable<PlacementError["where"]>): Whereabouts | undefined {
  if (typeof epoch !== "string" || !Number.isSafeInteger(revision) || revision < 0) return undefined
  if (node === undefined) return { kind: "absent", revision }
  try {
    return { kind: "placed", node: NodeId.parse(node), generation: revision }
  } catch {
    return undefined
  }
}

/** It is not about the call. One that is told that its target has stopped has met a node that is only joining, or leaving. */
function isOfTheWay(error: CallError): boolean {
  return (
    error instanceof FencedError ||
    error instanceof NodeUnreachableError ||
    error instanceof ActorStoppedError ||
    (error instanceof OverloadedError && error.of === "node")
  )
}

/** The actor is not to blame, and the next attempt may succeed. */
function isPassing(cause: unknown): boolean {
  return cause instanceof FencedError || cause instanceof StoreUnavailableError
}

/** Undefined where to look again may help. */
function refusalError(id: ActorId, { refusal }: Refused): Error | undefined {
  switch (refusal.reason) {
    case "no-authority":
      if (refusal.cause === undefined) return new UnknownActorTypeError(id.type, refusal.because)
      return new PlacementError(id.toString(), "not-placed", refusal.because, undefined, {
        cause: refusal.cause,
      })
    case "invalid-key":
      return new PlacementError(id.toString(), "not-placed", refusal.because)
    case "not-ready":
      return undefined
    case "denied":
      return refusal.step === "activate" && !isPassing(refusal.cause)
        ? new ActivationError(id.toString(), { cause: refusal.cause })
        : undefined
  }
}

export interface BusTools {
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly deadLetters: DeadLetters
  readonly catalog: Catalog
  readonly mailboxCapacity: number
  readonly maxForwards: number
  /** Where the actor is, or is to be. */
  resolve(id: ActorId, wish: PlacementWish, settled: (answer: Answer) => void): void
  /** Asks the store, and learns from it. */
  read(id: ActorId): Promise<unknown>
  cached(id: ActorId): { readonly epoch: string; readonly where: Whereabouts | undefined }
  isPlacedElsewhere(id: ActorId): boolean
  /** An error where this node hosts the type, which has no such method. */
  methodProblem(invocation: Invocation): UnknownMethodError | undefined
  /** Whether some node has hosted the type since this one began: its hosts may be back in a moment. */
  wasHosted(type: string): boolean
  /** Whether it is this node, in any of its lives. */
  isThisProcess(node: NodeId): boolean
  isAtThisAddress(node: NodeId): boolean
  /** Whether this process has seen it renew its lease. */
  isAlive(node: NodeId): boolean
  misdirected(id: ActorId, epoch: string, where: Whereabouts): void
  /** What is known of it has proved useless. */
  forget(id: ActorId): void
  /** Where calls for actors of that node go; undefined where other nodes cannot be reached. */
  gateOf(node: NodeId): InternalRef<never> | undefined
  pathOf(id: ActorId): ActorPath
  /** What an actor of this node answered, for whoever called it here. Throws an `InvalidMessageError`. */
  copied(value: unknown): unknown
  undelivered(call: Call, error: Error): void
  /** The placement strategy of its type threw, or named what is no candidate. */
  strategyFailed(id: ActorId, cause: Error): void
}

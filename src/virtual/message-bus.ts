import type { DeadLetters } from "../actor/dead-letters.js"
import type { Deadlines } from "../actor/deadlines.js"
import type { InternalRef } from "../actor/internal-ref.js"
import type { ActorId } from "../address/actor-id.js"
import type { ActorPath } from "../address/actor-path.js"
import type { NodeId } from "../address/node-id.js"
import { ActivationError } from "../errors/actor-call-errors.js"
import {
  type CallError,
  type Delivery,
  NodeUnreachableError,
  OverloadedError,
} from "../errors/call-errors.js"
import type { Answer, PlacementOptions } from "../placement/placement-protocol.js"
import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"
import type { TraceContext } from "../ports/telemetry.js"
import type { Whereabouts } from "../registry/placement-cache.js"
import { RemoteRef } from "../remote/remote-ref.js"
import { type Extras, LOCAL_ONLY } from "../serialization/envelope.js"
import type { Activation } from "./activation.js"
import { type Admission, CallAdmission } from "./call-admission.js"
import { CallRouting } from "./call-routing.js"
import type { Catalog } from "./catalog.js"
import { type CallMessage, IncomingCall, ONE_WAY_CALL, RESENT } from "./incoming-call.js"
import type { Invocation } from "./invocation.js"
import { type CallDesk, type CallRequest, OutgoingCall } from "./outgoing-call.js"
import { moved, notHere, refusalError } from "./placement-answer.js"
import { QuietPeriod } from "./quiet-period.js"
import {
  type Commands,
  type ConnectionView,
  RoutedCall,
  type RoutingAnswer,
  type RoutingCommand,
  type RoutingLimits,
} from "./routing-protocol.js"

/**
 * Brings every call to its actor, wherever that is, and its answer back; each ends exactly once.
 *
 * Calls of this node go to the activation, if the actor runs here, or are routed: `call-routing.ts` decides how.
 * Calls from other nodes are for an activation of this node, or wait until it is resolved whether there is to be one:
 * `call-admission.ts` decides. This is the driver of both.
 */
export class MessageBus implements CallDesk, ConnectionView<OutgoingCall> {
  readonly #tools: BusTools
  readonly #limits: RoutingLimits
  /** By the keys of their actors. Where there is none, calls go to the activation of this node. */
  readonly #routes = new Map<string, Route>()
  readonly #admission: CallAdmission<IncomingCall>
  #calls = 0
  #quiet: QuietPeriod | undefined
  #isLeaving = false
  #isStopped = false

  constructor(tools: BusTools) {
    const { mailboxCapacity: capacity, maxForwards } = tools
    this.#tools = tools
    this.#limits = { capacity, maxForwards }
    this.#admission = new CallAdmission({
      capacity,
      resolvingPerConnection: RESOLVING_PER_CONNECTION,
      waitingPerConnection: WAITING_PER_CONNECTION,
    })
  }

  /** How many actors are being resolved for calls of this node, or called elsewhere. */
  get routes(): number {
    return this.#routes.size
  }

  /** How many actors that do not run here are being called by other nodes. */
  get resolving(): number {
    return this.#admission.resolving
  }

  call(request: CallRequest, signal?: AbortSignal): void {
    this.#calls += 1
    const call = new OutgoingCall(this, request, this.#calls)
    if (signal !== undefined) {
      if (signal.aborted) return call.aborted(signal)
      call.listenTo(signal)
    }
    this.#tools.deadlines.add(call, request.timeoutMs)
    if (this.#isStopped) return call.abandon()
    // A call that is routed goes ahead of what could go to the activation by now.
    const route = this.#routes.size === 0 ? undefined : this.#routes.get(call.key)
    if (route !== undefined) return this.#do(route, route.routing.called(this.#routed(call)))
    const activation = this.#tools.catalog.get(call.key)
    if (activation !== undefined && call.exits()) return activation.accept(call)
    if (call.isOver) return
    const begun = this.#route(call)
    this.#do(begun, begun.routing.called(this.#routed(call)))
  }

  /** Takes a call from another node. */
  receive(call: IncomingCall): void {
    const activation = this.#tools.catalog.get(call.key)
    const admission = this.#admission.arrived(call, activation !== undefined)
    if (admission === "deliver") (activation as Activation).accept(call)
    else if (admission === "resolve") {
      this.#quiet?.disturb()
      void this.#resolveIncoming(call.id, call.key)
    } else if (admission !== "wait") call.fail(refusalOf(call, admission, this.#limits.capacity))
  }

  /** Notes that a call from another node was refused, and will be retried. */
  refused(call: IncomingCall): void {
    this.#admission.refused(call)
  }

  /** Hands all calls that wait to know where the actor is to its new activation, ahead of what comes next. */
  created(activation: Activation): void {
    const route = this.#routes.get(activation.key)
    if (route !== undefined) this.#do(route, route.routing.activatedHere())
    for (const call of this.#admission.activatedHere(activation.key)) activation.accept(call)
  }

  /**
   * Takes back what an activation that ended has not run: it is for the next one, wherever that is. That is resolved
   * once `ready` has settled, and after a pause if the last one was `unused`.
   */
  reroute(
    key: string,
    invocations: readonly Invocation[],
    {
      ready,
      unused = false,
    }: { readonly ready?: Promise<unknown> | undefined; readonly unused?: boolean } = {},
  ): void {
    const calls = invocations.filter((one): one is OutgoingCall => one instanceof OutgoingCall)
    const [first] = calls
    if (first !== undefined) {
      const route = this.#routes.get(key) ?? this.#route(first)
      for (const call of calls) call.rerouted()
      const returned = calls.map((call) => call.routed ?? this.#routed(call))
      const from = { isReleasing: ready !== undefined, isUnused: unused }
      this.#do(route, route.routing.returned(returned, from))
      void ready?.then(() => this.#do(route, route.routing.released()))
    }
    for (const one of invocations) {
      if (!(one instanceof IncomingCall)) continue
      if (unused) one.fail(notHere(one.id, "it ended as soon as it had begun"))
      else this.receive(one)
    }
  }

  /** The node's record is gone. */
  nodeGone(node: NodeId): void {
    for (const route of [...this.#routes.values()]) this.#do(route, route.routing.nodeGone(node))
  }

  /** This node was fenced: calls of its actors that have not left do not leave. */
  makersOvertaken(): void {
    for (const route of [...this.#routes.values()]) this.#do(route, route.routing.makersOvertaken())
  }

  /** Nothing is started here any more: calls to actors that no other node hosts have nowhere to go. */
  leave(): void {
    this.#isLeaving = true
  }

  /**
   * Resolves when all calls from other nodes are answered, all calls made here before this have ended, and nobody has
   * called for a moment: others hear late that nothing is here any more.
   */
  settled(quietMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#quiet = new QuietPeriod(this.#calls, quietMs, this.#tools.clock, resolve)
      this.#settle()
    })
  }

  stop(): void {
    this.#quiet?.end()
    this.#isStopped = true
    const routes = [...this.#routes.values()]
    this.#routes.clear()
    for (const route of routes) {
      route.timer?.cancel()
      this.#do(route, route.routing.stop())
    }
    for (const call of this.#admission.stop()) call.fail(notHere(call.id, "it is stopping"))
  }

  placeOf(call: OutgoingCall, node: NodeId): NodeId | "queued" | "unknown" {
    const gate = this.#tools.gateOf(node)
    return gate instanceof RemoteRef ? gate.placeOf(call) : "unknown"
  }

  withdraw(call: OutgoingCall): Delivery {
    const node = call.routed?.sentTo
    return node === undefined ? "not-delivered" : this.#withdraw(call, node)
  }

  callEnded(call: OutgoingCall): void {
    const { routed } = call
    const route = this.#routes.get(call.key)
    if (routed === undefined || route === undefined) return
    if (routed.sentTo !== undefined) this.#withdraw(call, routed.sentTo)
    this.#do(route, route.routing.ended(routed))
    if (this.#quiet !== undefined) this.#settle()
  }

  /** Retries a call that was not run, if that may help. */
  retry(call: OutgoingCall, error: CallError): boolean {
    if ((call.flags & LOCAL_ONLY) !== 0) return false
    if (call.exit === "shut") {
      call.failOvertaken()
      return true
    }
    const routed = call.routed ?? this.#routed(call)
    if (routed.sentTo !== undefined) this.#withdraw(call, routed.sentTo)
    call.rerouted()
    const route = this.#routes.get(call.key) ?? this.#route(call)
    this.#do(route, route.routing.cameBack(routed, error, this.#now))
    return true
  }

  pathOf({ id }: OutgoingCall): ActorPath {
    return this.#tools.pathOf(id)
  }

  lateAnswer(call: OutgoingCall, answer: unknown): void {
    this.#tools.deadLetters.add(answer, call, "ask-ended")
  }

  hindrance({ key }: OutgoingCall): string | undefined {
    return this.#routes.has(key) ? undefined : this.#tools.catalog.get(key)?.hindrance
  }

  copied(value: unknown): unknown {
    return this.#tools.copied(value)
  }

  undelivered(call: OutgoingCall, error: Error): void {
    this.#tools.undelivered(call, error)
  }

  get #now(): MonotonicMs {
    return this.#tools.clock.monotonicMs()
  }

  #settle(): void {
    const quiet = this.#quiet
    if (quiet === undefined || this.#admission.resolving > 0) return
    for (const { routing } of this.#routes.values()) if (routing.oldest <= quiet.lastCall) return
    quiet.begin()
  }

  #route({ id, key }: OutgoingCall): Route {
    const route: Route = {
      id,
      key,
      routing: new CallRouting(this.#limits, this),
      pending: undefined,
      timer: undefined,
    }
    this.#routes.set(key, route)
    return route
  }

  #routed(call: OutgoingCall): RoutedCall<OutgoingCall> {
    const routed = new RoutedCall(call, this.#now)
    call.routed = routed
    return routed
  }

  /** Does commands in their order. What one of them leads to is done after all that were given with it. */
  #do(route: Route, commands: Commands<OutgoingCall>): void {
    if (commands.length === 0) return
    if (route.pending !== undefined) {
      route.pending.push(...commands)
      return
    }
    const pending = [...commands]
    route.pending = pending
    try {
      for (let at = 0; at < pending.length; at += 1) this.#doOne(route, pending[at] as Command)
    } finally {
      route.pending = undefined
    }
  }

  #doOne(route: Route, command: Command): void {
    switch (command.kind) {
      case "send":
        this.#send(command.routed, command.node)
        return this.#do(route, route.routing.sent())
      case "deliver":
        return this.#deliver(command.routed.call)
      case "resolve":
        return this.#resolve(route, command.request, command.excluded)
      case "recall":
        this.#withdraw(command.routed.call, command.node)
        return command.routed.call.rerouted()
      case "fail":
        return this.#fail(route, command)
      case "wait":
        route.timer?.cancel()
        route.timer = this.#tools.clock.setTimer(command.ms, () => this.#do(route, route.routing.tick()))
        return
      case "hold":
        void command.routed.call.exitOpened().then(() => this.#do(route, route.routing.released()))
        return
      case "learn":
        return this.#tools.misdirected(route.id, command.epoch, command.where)
      case "forget":
        return this.#tools.forget(route.id)
      case "over":
        route.timer?.cancel()
        if (this.#routes.get(route.key) === route) this.#routes.delete(route.key)
        return this.#settle()
    }
  }

  #send(routed: RoutedCall<OutgoingCall>, node: NodeId): void {
    const { call } = routed
    const { id, method, args } = call
    const gate = this.#tools.gateOf(node)
    if (gate === undefined) {
      return call.failForGood(new NodeUnreachableError(node.address, "not-delivered", NOT_LISTENING))
    }
    if (routed.hasWaited) call.timeLeftMs = routed.timeLeftMs(this.#now)
    const kind = (call.isOneWay ? ONE_WAY_CALL : 0) | (routed.isResent ? RESENT : 0)
    const message: CallMessage =
      kind === 0 ? [id.type, id.key, method, args] : [id.type, id.key, method, args, kind]
    const refused = gate.request(call, message as never, extrasOf(routed))
    if (refused !== undefined) call.fail(refused)
  }

  #deliver(call: OutgoingCall): void {
    const activation = this.#tools.catalog.get(call.key)
    if (activation !== undefined && call.exits()) return activation.accept(call)
    // The activation has ended in the meantime, or its maker's doors have shut.
    if (!call.isOver) this.reroute(call.key, [call])
  }

  #withdraw(call: OutgoingCall, node: NodeId): Delivery {
    return this.#tools.gateOf(node)?.withdraw(call) ?? "unknown"
  }

  #fail({ id }: Route, { routed, because, error }: Command & { readonly kind: "fail" }): void {
    const { call, sentTo } = routed
    switch (because) {
      case "queue-full":
        return call.failForGood(new OverloadedError(id.toString(), this.#limits.capacity))
      case "late":
        return call.tooLate()
      case "overtaken":
        return call.failOvertaken()
      case "node-gone": {
        const { address } = sentTo as NodeId
        return call.failForGood(
          new NodeUnreachableError(address, "unknown", "its node is gone, and did not answer"),
        )
      }
      case "stopped":
        return call.abandon()
      case "refused":
        return call.failForGood(error as Error)
    }
  }

  #resolve(route: Route, request: number, excluded: readonly NodeId[]): void {
    this.#tools.resolve(route.id, excluded.length === 0 ? NO_OPTIONS : { excluded }, (answer) =>
      this.#do(route, route.routing.resolved(request, this.#answer(route, answer))),
    )
  }

  #answer({ id, key }: Route, answer: Answer): RoutingAnswer {
    switch (answer.kind) {
      case "local":
        return this.#tools.catalog.get(key) === undefined ? BLOCKED : HERE
      case "remote":
        // An earlier life of this node, which is still on record: nobody has the actor, and nobody may claim it yet.
        if (this.#tools.isThisProcess(answer.node)) return BLOCKED
        if (this.#tools.isAtThisAddress(answer.node)) return this.#atThisAddress(answer.node)
        return { kind: "node", node: answer.node }
      case "refused": {
        const { refusal } = answer
        if (refusal.reason === "no-authority" && refusal.cause !== undefined) {
          this.#tools.strategyFailed(id, refusal.cause)
        }
        const seen = this.#tools.wasHosted(id.type) ? "were-seen" : "never-seen"
        const hosts = this.#isLeaving ? "not-awaited" : seen
        return { kind: "refused", error: refusalError(id, refusal), hosts }
      }
    }
  }

  /** Another process is on record at this node's address: one before this one, whose lease runs out, or a live one. */
  #atThisAddress(node: NodeId): RoutingAnswer {
    if (!this.#tools.isAlive(node)) return BLOCKED
    const problem = this.#tools.gateOf(node) === undefined ? NOT_LISTENING : SHARED_ADDRESS
    const error = new NodeUnreachableError(node.address, "not-delivered", problem)
    return { kind: "refused", error, hosts: "never-seen" }
  }

  /** Another node thinks that the actor is here, or is to be. The cache may be older than that, so the store is asked. */
  async #resolveIncoming(id: ActorId, key: string): Promise<void> {
    if (this.#tools.isPlacedElsewhere(id)) {
      try {
        await this.#tools.read(id)
      } catch {
        return this.#refuseIncoming(key, notHere(id, "the store does not answer"))
      }
    }
    this.#tools.resolve(id, { here: true }, (answer) => {
      if (answer.kind === "remote")
        return this.#refuseIncoming(key, moved(id, answer.node, this.#tools.cached(id)))
      const activation = answer.kind === "local" ? this.#tools.catalog.get(key) : undefined
      if (activation !== undefined) return this.#resolvedIncoming(key, (call) => activation.accept(call))
      const error = answer.kind === "refused" ? refusalError(id, answer.refusal) : undefined
      this.#refuseIncoming(
        key,
        error instanceof ActivationError ? error : notHere(id, "this node does not take it"),
      )
    })
  }

  #refuseIncoming(key: string, error: Error): void {
    this.#resolvedIncoming(key, (call) => call.fail(error))
  }

  /** The next one is begun in a microtask of its own: there may be thousands that are resolved as soon as they begin. */
  #resolvedIncoming(key: string, each: (call: IncomingCall) => void): void {
    const { waited, next } = this.#admission.resolved(key)
    for (const call of waited) each(call)
    if (next !== undefined)
      void Promise.resolve(next).then((call) => this.#resolveIncoming(call.id, call.key))
    this.#settle()
  }
}

/** The driver's part of the routing of the calls to one actor. */
interface Route {
  readonly id: ActorId
  readonly key: string
  readonly routing: CallRouting<OutgoingCall>
  /** Commands that wait for the one that is being done. */
  pending: Command[] | undefined
  timer: Timer | undefined
}

type Command = RoutingCommand<OutgoingCall>

function refusalOf(
  call: IncomingCall,
  admission: Exclude<Admission, "deliver" | "wait" | "resolve">,
  capacity: number,
) {
  if (admission instanceof Error) return admission
  // Of an id that is none there is nothing to say.
  const problem = call.idProblem
  if (problem !== undefined) return problem
  switch (admission) {
    case "sent-too-early":
      return notHere(call.id, "an earlier call to it was refused, and this one was sent before")
    case "queue-full":
      return new OverloadedError(call.id.toString(), capacity)
    case "too-many-actors":
      return new OverloadedError(
        `the node of ${call.id}`,
        WAITING_PER_CONNECTION,
        "actors to start for one caller",
      )
  }
}

function extrasOf({ call, forwards }: RoutedCall<OutgoingCall>): Extras | undefined {
  const { flags, chain, trace } = call
  if (flags === 0 && chain.length === 0 && forwards === 0 && trace === undefined) return undefined
  return { flags, chain, forwards, origin: undefined, trace: sendable(trace) }
}

/** It comes from an adapter of the user's; one that is none would make the message unreadable. */
function sendable(trace: TraceContext | undefined): TraceContext | undefined {
  if (trace === undefined) return undefined
  return /^[0-9a-f]{32}$/.test(trace.traceId) && /^[0-9a-f]{16}$/.test(trace.spanId) ? trace : undefined
}

const NOT_LISTENING = "this system talks to no others; set listen"
const SHARED_ADDRESS =
  "another process has joined the cluster with this node's own address; give each node its own, with listen.port or advertise"

const NO_OPTIONS: PlacementOptions = {}
const BLOCKED: RoutingAnswer = { kind: "blocked" }
const HERE: RoutingAnswer = { kind: "here" }

/** As many as the store commits at once without a caller's first calls taking longer. */
const RESOLVING_PER_CONNECTION = 1_024
const WAITING_PER_CONNECTION = 100_000

export interface BusTools {
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly deadLetters: DeadLetters
  readonly catalog: Catalog
  readonly mailboxCapacity: number
  readonly maxForwards: number
  /** Where the actor is, or is to be. */
  resolve(id: ActorId, options: PlacementOptions, settled: (answer: Answer) => void): void
  /** Asks the store, and learns from it. */
  read(id: ActorId): Promise<unknown>
  cached(id: ActorId): { readonly epoch: string; readonly where: Whereabouts | undefined }
  isPlacedElsewhere(id: ActorId): boolean
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
  undelivered(call: OutgoingCall, error: Error): void
  /** The placement strategy of its type threw, or named what is no candidate. */
  strategyFailed(id: ActorId, cause: Error): void
}

import type { Deadlines } from "../actor/deadlines.js"
import type { ActorId } from "../address/actor-id.js"
import type { ActorPath } from "../address/actor-path.js"
import type { NodeId } from "../address/node-id.js"
import {
  type CallError,
  type Delivery,
  NodeUnreachableError,
  OverloadedError,
} from "../errors/call-errors.js"
import type { Directory } from "../placement/directory.js"
import { PlacementHappened } from "../placement/placement-log.js"
import type { PlacementOptions } from "../placement/placement-protocol.js"
import type { MonotonicMs, Timer } from "../ports/clock.js"
import type { ActorTable } from "../registry/actor-table.js"
import { RemoteRef } from "../remote/remote-ref.js"
import { LOCAL_ONLY } from "../serialization/envelope.js"
import type { ActorEntry } from "./actor-entry.js"
import type { ActorHost } from "./actor-host.js"
import { gatePath } from "./actors-gate.js"
import { CallRouting } from "./call-routing.js"
import { ErrorCounts } from "./error-counts.js"
import { type CallMessage, ONE_WAY_CALL, RESENT } from "./incoming-call.js"
import { packOperation } from "./operation.js"
import type { OutgoingCall } from "./outgoing-call.js"
import type { QuietPeriod } from "./quiet-period.js"
import { NOT_LISTENING, routingAnswer } from "./routing-answer.js"
import {
  type Commands,
  type ConnectionView,
  RoutedCall,
  type RoutingCommand,
  type RoutingLimits,
} from "./routing-protocol.js"

/**
 * Sends every call of this node to its actor, on whichever node that is, and ends each call exactly once. A
 * call goes to the activation if the actor runs here, and is otherwise routed: the driver of
 * `call-routing.ts`.
 */
export class CallRouter implements ConnectionView<OutgoingCall> {
  readonly #host: ActorHost
  readonly #table: ActorTable<ActorEntry>
  readonly #quiet: QuietPeriod
  readonly #deadlines: Deadlines
  readonly #limits: RoutingLimits
  readonly #routes = new Set<Route>()
  /** The calls of this node that have failed. */
  readonly errors = new ErrorCounts()
  #calls = 0

  constructor(host: ActorHost) {
    const { mailboxCapacity: capacity, maxForwards } = host.options
    this.#host = host
    this.#table = host.table
    this.#quiet = host.quiet
    this.#deadlines = host.environment.deadlines
    this.#limits = { capacity, maxForwards }
  }

  /** The number of actors that are resolved for calls of this node, or called on other nodes. */
  get routes(): number {
    return this.#routes.size
  }

  /** The number of calls that were made. */
  get calls(): number {
    return this.#calls
  }

  /** Returns whether the first `calls` calls have all ended. */
  haveEnded(calls: number): boolean {
    for (const { routing } of this.#routes) if (routing.oldest <= calls) return false
    return true
  }

  /** Delivers or routes a new call. */
  route(call: OutgoingCall, signal?: AbortSignal): void {
    this.#calls += 1
    call.order = this.#calls
    call.attempts?.made(call.order)
    if (signal !== undefined) {
      if (signal.aborted) return call.aborted(signal)
      call.listenTo(signal)
    }
    this.#deadlines.add(call, call.callTimeoutMs)
    if (this.#host.life?.phase === "stopped") return call.abandon()
    const { route, activation } = this.#table.get(call.key) ?? NOTHING
    // While earlier calls are routed, a later one must not overtake them by going to the activation.
    if (route === undefined && activation !== undefined && call.tryExit())
      return activation.turns.accept(call)
    if (call.isOver) return
    const taken = route ?? this.#route(call, call.exit === "open" ? this.#knownNode(call.id) : undefined)
    if (call.chain.length > 0) this.#awaited(call)
    this.#do(taken, taken.routing.called(this.#routed(call)))
  }

  /** Delivers all queued calls to the new activation of their actor, ahead of later calls. */
  created({ route }: ActorEntry): void {
    if (route !== undefined) this.#do(route, route.routing.activatedHere())
  }

  /**
   * Takes back calls that an activation has not run, and routes them to the next one. The actor is resolved
   * once `ready` has settled, and after a pause if the last activation was unused.
   */
  returned(calls: readonly OutgoingCall[], ready: Promise<unknown> | undefined, isUnused: boolean): void {
    const [first] = calls
    if (first === undefined) return
    const route = this.#table.get(first.key)?.route ?? this.#route(first)
    for (const call of calls) {
      call.rerouted()
      if (call.chain.length > 0) this.#awaited(call)
    }
    const routed = calls.map((call) => call.routed ?? this.#routed(call))
    this.#do(route, route.routing.returned(routed, { isReleasing: ready !== undefined, isUnused }))
    void ready?.then(() => this.#do(route, route.routing.released()))
  }

  /** Handles the removal of a node's record; `hasLeft`: the node was leaving. */
  nodeGone(node: NodeId, hasLeft: boolean): void {
    for (const route of [...this.#routes]) this.#do(route, route.routing.nodeGone(node, hasLeft))
  }

  /** Fails the calls of this node's actors that have not left, as the node was fenced. */
  makersSuperseded(): void {
    for (const route of [...this.#routes]) this.#do(route, route.routing.makersSuperseded())
  }

  stop(): void {
    for (const route of [...this.#routes]) {
      this.#end(route)
      this.#do(route, route.routing.stop())
    }
  }

  placeOf(call: OutgoingCall, node: NodeId): NodeId | "queued" | "unknown" {
    const gate = this.#host.options.gateOf(node)
    return gate instanceof RemoteRef ? gate.placeOf(call) : "unknown"
  }

  /** Takes a sent call back from its connection; returns whether it may have run, or may still run. */
  withdraw(call: OutgoingCall): Delivery {
    const node = call.routed?.sentTo
    return node === undefined ? "not-delivered" : this.#withdraw(call, node)
  }

  callEnded(call: OutgoingCall): void {
    const { routed } = call
    if (routed === undefined) return
    if (routed.sentTo !== undefined) this.#withdraw(call, routed.sentTo)
    const route = this.#table.get(call.key)?.route
    if (route !== undefined) this.#do(route, route.routing.ended(routed))
    // The end of a route has already reported the change.
    if (route === undefined || this.#routes.has(route)) this.#quiet.changed()
  }

  /** Retries a call that was not run; returns false if the call has to end with the error. */
  retry(call: OutgoingCall, error: CallError): boolean {
    if ((call.flags & LOCAL_ONLY) !== 0) return false
    if (call.exit === "shut") {
      call.failSuperseded()
      return true
    }
    const routed = call.routed ?? this.#routed(call)
    if (routed.sentTo !== undefined) {
      this.#withdraw(call, routed.sentTo)
      // The call waits for the node, or for its end.
      if (error instanceof NodeUnreachableError) this.#host.registry.observe(routed.sentTo)
    }
    call.rerouted()
    const route = this.#table.get(call.key)?.route ?? this.#route(call)
    this.#do(route, route.routing.cameBack(routed, error, this.#now))
    return true
  }

  /** The address to which the answers to calls are sent. */
  get path(): ActorPath {
    return gatePath(this.#host.environment.address)
  }

  answeredLate(call: OutgoingCall, answer: unknown): void {
    this.#host.environment.deadLetters.add(answer, call, "ask-ended")
  }

  /** Describes what the call waits for, if it is in the mailbox of an activation of this node. */
  blockedBy({ key }: OutgoingCall): string | undefined {
    const entry = this.#table.get(key)
    return entry?.route === undefined ? entry?.activation?.blockedBy : undefined
  }

  /** Throws an `InvalidMessageError` for a value that cannot be sent. */
  copy(value: unknown): unknown {
    return this.#host.copier.copy(value)
  }

  undelivered({ id, method, args }: OutgoingCall, error: Error): void {
    this.#host.undelivered(id, method, args, error)
  }

  get #now(): MonotonicMs {
    return this.#host.environment.clock.monotonicMs()
  }

  #directoryOf({ type }: ActorId): Directory {
    return this.#host.directoryOf(type)
  }

  #awaited({ id, chain }: OutgoingCall): void {
    this.#host.directories.get(id.type)?.awaited?.(id, chain)
  }

  #route({ id, key }: OutgoingCall, known?: NodeId): Route {
    const entry = this.#table.at(key)
    const route: Route = {
      id,
      key,
      entry,
      routing: new CallRouting(this.#limits, this, known),
      isBusy: false,
      pending: undefined,
      timer: undefined,
    }
    entry.route = route
    this.#routes.add(route)
    return route
  }

  #end(route: Route): void {
    route.timer?.cancel()
    this.#routes.delete(route)
    const { entry } = route
    if (entry.route !== route) return
    entry.route = undefined
    this.#table.prune(entry)
  }

  #routed(call: OutgoingCall): RoutedCall<OutgoingCall> {
    const routed = new RoutedCall(call, this.#now)
    call.routed = routed
    return routed
  }

  /** Carries out commands in order; those that result from one run after all that were issued with it. */
  #do(route: Route, commands: Commands<OutgoingCall>): void {
    if (commands.length === 0) return
    if (route.isBusy) {
      route.pending ??= []
      route.pending.push(...commands)
      return
    }
    route.isBusy = true
    try {
      for (const command of commands) this.#doOne(route, command)
      for (let at = 0; route.pending !== undefined && at < route.pending.length; at += 1) {
        this.#doOne(route, route.pending[at] as Command)
      }
    } finally {
      route.isBusy = false
      route.pending = undefined
    }
  }

  #doOne(route: Route, command: Command): void {
    switch (command.kind) {
      case "send":
        this.#send(command.routed, command.node)
        return route.routing.state === "draining" ? this.#do(route, route.routing.sent()) : undefined
      case "deliver":
        return this.#deliver(route.entry, command.routed.call)
      case "resolve":
        return this.#resolve(route, command.request, command.excluded)
      case "recall":
        this.#withdraw(command.routed.call, command.node)
        return command.routed.call.rerouted()
      case "fail":
        return this.#fail(route, command)
      case "wait":
        route.timer?.cancel()
        route.timer = this.#host.environment.clock.setTimer(command.ms, () =>
          this.#do(route, route.routing.tick()),
        )
        return
      case "hold":
        void command.routed.call.exitOpened().then(() => this.#do(route, route.routing.released()))
        return
      case "learn":
        if (command.isShard) this.#host.followShards(route.id.type)
        return this.#directoryOf(route.id).misdirected(route.id, command.epoch, command.where)
      case "forget":
        return this.#directoryOf(route.id).forget(route.id)
      case "over":
        this.#end(route)
        return this.#quiet.changed()
    }
  }

  #send(routed: RoutedCall<OutgoingCall>, node: NodeId): void {
    const { call } = routed
    const gate = this.#host.options.gateOf(node)
    if (gate === undefined) {
      return call.failForGood(new NodeUnreachableError(node.address, "not-delivered", NOT_LISTENING))
    }
    if (routed.hasWaited) call.timeLeftMs = routed.timeLeftMs(this.#now)
    const kind = (call.isOneWay ? ONE_WAY_CALL : 0) | (routed.isResent ? RESENT : 0)
    const { id, method, args, operation, caller } = call
    const packed = operation && packOperation(operation)
    // What is absent at the end is left out.
    const message: CallMessage =
      caller !== undefined
        ? [id.type, id.key, method, args, kind, packed, caller]
        : packed !== undefined
          ? [id.type, id.key, method, args, kind, packed]
          : kind === 0
            ? [id.type, id.key, method, args]
            : [id.type, id.key, method, args, kind]
    const refused = gate.request(call, message as never, call.extras)
    if (refused !== undefined) call.fail(refused)
  }

  #deliver({ activation }: ActorEntry, call: OutgoingCall): void {
    if (activation !== undefined && call.tryExit()) return activation.turns.accept(call)
    // The activation has ended in the meantime, or the maker may no longer act.
    if (!call.isOver) this.returned([call], undefined, false)
  }

  /** Takes a call back from its connection, which has dropped the call already if it was answered. */
  #withdraw(call: OutgoingCall, node: NodeId): Delivery {
    if (call.correlation === 0) return "unknown"
    return this.#host.options.gateOf(node)?.withdraw(call) ?? "unknown"
  }

  #fail({ id }: Route, { routed, because, error }: Command & { readonly kind: "fail" }): void {
    const { call, sentTo } = routed
    switch (because) {
      case "queue-full":
        return call.failForGood(new OverloadedError(id.toString(), this.#limits.capacity))
      case "late":
        return call.failLate()
      case "superseded":
        return call.failSuperseded()
      case "node-gone": {
        const { address } = sentTo as NodeId
        return call.fail(
          new NodeUnreachableError(address, "unknown", "the node left the cluster before it answered"),
        )
      }
      case "stopped":
        return call.abandon()
      case "refused":
        return call.failForGood(error as Error)
    }
  }

  #resolve(route: Route, request: number, excluded: readonly NodeId[]): void {
    const { placement } = this.#host
    placement.resolve(route.id, excluded.length === 0 ? NO_OPTIONS : { excluded }, (answer) => {
      const routed = routingAnswer(this.#host, route.id, answer)
      const isClaimedThere = answer.kind === "remote" && answer.generation === undefined
      if (isClaimedThere && routed.kind === "node") this.#directoryOf(route.id).expect(route.id, routed.node)
      this.#do(route, route.routing.resolved(request, routed))
    })
  }

  /**
   * Returns the node of the actor if it is cached. This spares most calls the coordinator, which would return
   * the same; it is bypassed only while its events have no subscriber.
   */
  #knownNode(id: ActorId): NodeId | undefined {
    const { registry, environment } = this.#host
    const known = this.#directoryOf(id).cached(id)
    if (known?.kind !== "placed" || !registry.life.hasLease || environment.events.has(PlacementHappened))
      return undefined
    const { node } = known
    if (node.address === registry.node.address) return undefined
    const status = registry.view.member(node)?.status
    return status === undefined || status === "leaving" ? undefined : node
  }
}

/** The routing of the calls to one actor, with the state of its driver. */
export interface Route {
  readonly id: ActorId
  readonly key: string
  readonly entry: ActorEntry
  readonly routing: CallRouting<OutgoingCall>
  /** Whether commands are carried out. */
  isBusy: boolean
  /** Commands that wait for those that are carried out. */
  pending: Command[] | undefined
  timer: Timer | undefined
}

type Command = RoutingCommand<OutgoingCall>

const NOTHING: Partial<ActorEntry> = {}
const NO_OPTIONS: PlacementOptions = {}

import { type DeadLetterReason, UndeliveredCall } from "../actor/dead-letters.js"
import type { InternalRef } from "../actor/internal-ref.js"
import { LimitedLogger } from "../actor/limited-logger.js"
import type { Realm } from "../actor/realm.js"
import { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import { PlacementError, UnknownMethodError } from "../errors/actor-call-errors.js"
import {
  CallError,
  InvalidMessageError,
  OverloadedError,
  QuarantinedError,
  TimeoutError,
} from "../errors/call-errors.js"
import { SettingsError } from "../errors/settings-error.js"
import type { ClusterView } from "../membership/cluster-view.js"
import { PlacementCoordinator } from "../placement/placement-coordinator.js"
import { PlacementDriver } from "../placement/placement-driver.js"
import { PlacementHappened } from "../placement/placement-happened.js"
import { rendezvous } from "../placement/rendezvous.js"
import type { Candidate } from "../placement/topology.js"
import type { Codec } from "../ports/codec.js"
import type { Scheduler } from "../ports/scheduler.js"
import type { ClusterStore } from "../ports/store.js"
import type { Span, Telemetry } from "../ports/telemetry.js"
import type { TurnContext } from "../ports/turn-context.js"
import type { Registry } from "../registry/registry.js"
import type { Tenure } from "../registry/tenure.js"
import { MAX_CHAIN } from "../serialization/envelope.js"
import type { Activation } from "./activation.js"
import { ActivationBecame, TurnOverdue } from "./activation-events.js"
import type { ActorClass } from "./actor-class.js"
import { ActorType } from "./actor-type.js"
import { ActorsGate } from "./actors-gate.js"
import { type CallWish, fencedMaker } from "./call.js"
import { Catalog } from "./catalog.js"
import { Copier } from "./copier.js"
import type { Guest } from "./guest.js"
import { type CallOptions, type HandleShape, type HandleTarget, handleShape } from "./handle.js"
import { type Invocation, localKey } from "./invocation.js"
import { Loads } from "./loads.js"
import { MessageBus } from "./message-bus.js"
import { isDuration } from "./method-options.js"
import { PlacementAgent } from "./placement-agent.js"
import { Releases } from "./releases.js"

/**
 * The virtual actors of this node: puts registry, placement, catalog and message bus together, and tells each what the others learn.
 */
export class VirtualActors {
  readonly gate: ActorsGate
  readonly #options: VirtualActorsOptions
  readonly #logger: LimitedLogger
  readonly #types: ReadonlyMap<string, ActorType>
  readonly #catalog: Catalog
  readonly #bus: MessageBus
  readonly #copier: Copier
  readonly #loads: Loads
  readonly #shapes = new Map<string, HandleShape>()
  /** Types that this node does not host, as far as their classes were used here. */
  readonly #foreign = new Map<string, ActorType>()
  readonly #everHosted = new Set<string>()
  /** Fenced, and out of the catalog, while something of them still runs. */
  readonly #lingering = new Set<Activation>()
  #registry: Registry | undefined
  #releases: Releases | undefined
  #placement: PlacementDriver<Tenure> | undefined
  #agent: PlacementAgent | undefined
  #isStopped = false

  constructor(options: VirtualActorsOptions) {
    const { realm, codec, stateCodec, store } = options
    this.#options = options
    this.#logger = new LimitedLogger(realm.logger, realm.clock)
    this.#types = typesOf(options.actors)
    this.#copier = new Copier(codec, options.maxMessageBytes)
    this.#catalog = new Catalog({
      clock: realm.clock,
      scheduler: options.scheduler,
      logger: this.#logger,
      dispatcher: realm.dispatcher,
      deadlines: realm.deadlines,
      context: options.context,
      telemetry: options.telemetry,
      state: { store, clock: realm.clock, codec: stateCodec, maxStateBytes: options.maxStateBytes },
      mailboxCapacity: options.mailboxCapacity,
      idleAfterMs: options.idleAfterMs,
      requestTimeoutMs: realm.askTimeoutMs,
      created: (activation) => this.#bus.created(activation),
      became: (activation, state) => {
        if (realm.events.has(ActivationBecame)) {
          realm.events.publish(new ActivationBecame(activation.id, activation.generation, state))
        }
      },
      ended: (activation, waiting, isOwn) => this.#ended(activation, waiting, isOwn),
      reroute: (key, invocations) => this.#bus.reroute(key, invocations),
      overdue: ({ id }, method, chain) => {
        this.#logger.log("warn", "a turn takes longer than it may", { actor: id.toString(), method, chain })
        realm.events.publish(new TurnOverdue(id, method, chain))
      },
      handle: (type, key, from) => this.handle(type, key, from),
    })
    this.#bus = new MessageBus({
      clock: realm.clock,
      deadlines: realm.deadlines,
      deadLetters: realm.deadLetters,
      catalog: this.#catalog,
      mailboxCapacity: options.mailboxCapacity,
      maxForwards: options.maxForwards,
      resolve: (id, wish, settled) => this.#placed.resolve(id, wish, settled),
      read: (id) => this.#joined.read(id),
      cached: (id) => ({ epoch: this.#joined.epoch, where: this.#joined.cached(id) }),
      isPlacedElsewhere: (id) => this.#isPlacedElsewhere(id),
      methodProblem: (invocation) => this.#methodProblem(invocation),
      wasHosted: (type) => this.#everHosted.has(type),
      isThisProcess: (node) => this.#joined.hasBeen(node),
      isAtThisAddress: ({ address }) => address === this.#joined.node.address,
      isAlive: (node) => this.#joined.isRenewing(node),
      misdirected: (id, epoch, where) => this.#joined.misdirected(id, epoch, where),
      forget: (id) => this.#joined.forget(id),
      gateOf: (node) => options.gateOf(node),
      pathOf: () => this.gate.path,
      copied: (value) => this.#copier.copy(value),
      undelivered: ({ id, method, args }, error) => this.#undelivered(id, method, args, error),
      strategyFailed: (id, cause) =>
        this.#logger.log("error", "a placement strategy failed", { actor: id.toString(), cause }),
    })
    this.gate = new ActorsGate(realm.address, options.namespace, {
      receive: (guest) => this.#receive(guest),
      // Who the members are is not known before this node is one.
      told: (message) => this.#registry !== undefined && this.#loads.heard(message),
    })
    this.#loads = new Loads({
      clock: realm.clock,
      isNeeded: [...this.#types.values()].some(({ placement }) => placement !== undefined),
      self: () => this.#joined.node,
      load: () => this.#catalog.size,
      isMember: (node) => this.#joined.view.has(node),
      tellOthers: (message) => this.#tellOthers(message),
    })
  }

  /** The types that this node hosts. */
  get types(): readonly string[] {
    return [...this.#types.keys()]
  }

  /** Whether nothing of any actor runs here. */
  get isIdle(): boolean {
    return this.#catalog.size === 0 && this.#lingering.size === 0
  }

  /** How many activations are not gone, and the ids of some. */
  remaining(named: number): { readonly count: number; readonly sample: readonly ActorId[] } {
    const sample: ActorId[] = []
    for (const activations of [this.#catalog.all, this.#lingering]) {
      for (const { id } of activations) {
        if (sample.length === named) break
        sample.push(id)
      }
    }
    return { count: this.#catalog.size + this.#lingering.size, sample }
  }

  /** What runs on this node. */
  get catalog(): Catalog {
    return this.#catalog
  }

  /** How many actors are being looked for, or called elsewhere. */
  get routes(): number {
    return this.#bus.routes
  }

  /** How many actors that do not run here are being called by other nodes. */
  get receptions(): number {
    return this.#bus.receptions
  }

  /** This node is a member from now on. */
  joined(registry: Registry): void {
    const { clock, logger } = this.#options.realm
    this.#registry = registry
    this.#releases = new Releases(registry, clock, logger)
    this.#loads.begin()
    this.#beginPlacing(registry)
  }

  /** It is one again, as another incarnation. */
  rejoined(): void {
    this.#beginPlacing(this.#joined)
  }

  viewed(view: ClusterView, before: ClusterView): void {
    for (const { types } of view.members) for (const type of types) this.#everHosted.add(type)
    if (this.#placement === undefined) return
    this.#placement.handle({ kind: "topology-changed", topology: this.#topologyOf(view) })
    for (const { node } of before.members) {
      if (view.has(node)) continue
      this.#placement.handle({ kind: "member-left", node })
      this.#bus.nodeGone(node)
      this.#loads.forget(node)
    }
  }

  /** The node's lease has run out, and nobody knows what became of it: what has not started goes back to its callers. */
  turnAway(): void {
    for (const activation of this.#catalog.all) activation.turnAway()
  }

  fenced(because: string): void {
    this.#releases?.forget()
    this.#placement?.handle({ kind: "suspend", because })
    this.#bus.makersOvertaken()
  }

  /** Resolves once nothing runs that was fenced. */
  async settled(): Promise<void> {
    // Of those in the catalog all others have left it: these were being started, and do not know yet.
    const starting = [...this.#catalog.all].filter(({ tenure }) => tenure.endedBecause !== undefined)
    await Promise.all([...this.#lingering, ...starting].map((one) => one.deactivate("fenced")))
  }

  /** Ends all actors of this node: what waits for them goes to their next activations, elsewhere. */
  async drain(): Promise<void> {
    this.#placement?.handle({ kind: "start", as: "client" })
    this.#bus.leave()
    await this.#catalog.drain("leaving")
    // If this node was fenced meanwhile, some of them still run.
    await this.settled()
    await this.#bus.settled(this.#joined.view.members.length > 1 ? QUIET_MS : 0)
  }

  stop(): void {
    this.#isStopped = true
    this.#catalog.stop()
    this.#releases?.stop()
    this.#loads.stop()
    this.#bus.stop()
    this.#placement?.handle({ kind: "stop" })
  }

  /** A handle. Throws an `ActorIdError` for what is no key. */
  handle(type: ActorClass | string, key: string, from?: Activation): unknown {
    const name = typeof type === "function" ? (type.type ?? type.name) : type
    const id = ActorId.of(this.#options.namespace, name, key)
    const Shape = this.#shapeOf(name, type)
    return new Shape(this.#target(id, from), undefined, false)
  }

  #target(id: ActorId, from: Activation | undefined): HandleTarget {
    const to: Addressee = { id, key: localKey(id), hosted: this.#types.get(id.type), from }
    return {
      call: (method, args, options, isOneWay) => {
        if (isOneWay) return this.#sendOneWay(to, method, args, options)
        // What is thrown in here rejects it.
        return new Promise((resolve, reject) => this.#send(to, method, args, options, resolve, reject))
      },
      toString: () => id.toString(),
    }
  }

  /** One-way without `resolve`. Every call goes through here: what is rare in it is elsewhere, so that it stays small. */
  #send(
    to: Addressee,
    method: string,
    args: readonly unknown[],
    options: CallOptions | undefined,
    resolve: CallWish["resolve"],
    reject: CallWish["reject"],
  ): void {
    const { id, key, hosted, from } = to
    if (from?.tenure.endedBecause !== undefined) throw fencedMaker(from.tenure)
    const known = (hosted ?? this.#foreign.get(id.type))?.method(method)
    if (hosted !== undefined && known === undefined) throw new UnknownMethodError(id.type, method)
    const timeoutMs = options?.timeoutMs ?? known?.timeoutMs ?? this.#options.realm.askTimeoutMs
    if (!isDuration(timeoutMs)) throw noDuration(timeoutMs)
    const isOneWay = resolve === undefined
    const { telemetry } = this.#options
    this.#bus.call(
      {
        id,
        key,
        method,
        args: this.#copier.copyArguments(args, to, method),
        flags: known?.flags ?? 0,
        isOneWay,
        chain: isOneWay || from === undefined ? NO_CHAIN : chainOf(from),
        timeoutMs,
        maker: from,
        span: telemetry === undefined ? undefined : spanOf(telemetry, to, method),
        resolve,
        reject,
      },
      options?.signal,
    )
  }

  /** Whether a message is refused here or elsewhere is the same to whoever waits for no answer. */
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
      this.#undelivered(to.id, method, args, error)
    }
  }

  #undelivered(id: ActorId, method: string, args: readonly unknown[], error: unknown): void {
    const call = new UndeliveredCall(id.toString(), method, args, error)
    this.#options.realm.deadLetters.add(call, this.gate, deadLetterReason(error))
  }

  #shapeOf(name: string, type: ActorClass | string): HandleShape {
    const known = this.#shapes.get(name)
    if (known !== undefined) return known
    const hosted = this.#types.get(name)
    if (hosted === undefined && typeof type === "string") return StrangeHandle
    const described = hosted ?? new ActorType(type as ActorClass)
    if (hosted === undefined) this.#foreign.set(name, described)
    const shape = handleShape(described.methodNames)
    this.#shapes.set(name, shape)
    return shape
  }

  #beginPlacing(registry: Registry): void {
    const { realm, namespace } = this.#options
    const coordinator = new PlacementCoordinator<Tenure>({
      self: registry.node,
      namespace,
      catalog: { isHere: (id) => this.#catalog.get(localKey(id))?.generation },
      cache: { lookup: (id) => registry.cached(id) },
      random: realm.random,
      strategyOf: (type) => this.#types.get(type)?.placement ?? rendezvous,
      isObserved: () => realm.events.has(PlacementHappened),
    })
    const agent = new PlacementAgent(registry, this.#releases as Releases, this.#catalog, this.#types)
    this.#agent = agent
    const placement = new PlacementDriver<Tenure>(coordinator, {
      clock: realm.clock,
      lock: agent,
      storage: agent,
      executor: agent,
      happened: (event) => realm.events.publish(new PlacementHappened(event)),
    })
    this.#placement = placement
    placement.handle({ kind: "topology-changed", topology: this.#topologyOf(registry.view) })
    placement.handle({ kind: "start", as: this.#types.size > 0 ? "member" : "client" })
  }

  #topologyOf(view: ClusterView) {
    return {
      version: view.version,
      has: (node: NodeId) => view.has(node),
      candidates: (type: string) => this.#candidates(view, type),
    }
  }

  /** Where nobody looks at loads, they are the same for as long as the view is. */
  #candidates(view: ClusterView, type: string): readonly Candidate[] {
    if (this.#loads.isNeeded) return view.hosting(type).map(({ node }) => this.#candidate(node))
    return view.hosting(type)
  }

  #candidate(node: NodeId): Candidate {
    const load = node.equals(this.#joined.node) ? this.#catalog.size : this.#loads.of(node)
    return load === undefined ? { node } : { node, load }
  }

  #tellOthers(message: readonly unknown[]): void {
    const { node: self, view } = this.#joined
    for (const { node } of view.members) {
      if (!node.equals(self)) this.#options.gateOf(node)?.tell(message as never)
    }
  }

  #ended(
    activation: Activation,
    waiting: readonly Invocation[],
    isOwn: boolean,
  ): Promise<unknown> | undefined {
    const { id, key, tenure, generation } = activation
    if (activation.hasFailed) this.#agent?.failed(activation)
    if (!isOwn) this.#linger(activation)
    // One that could not be started is released by the coordinator, which had it claimed.
    const isReleased = isOwn && this.#agent?.isStarting(tenure) !== true
    const ready = isReleased ? this.#releases?.release(tenure) : undefined
    this.#placement?.handle({ kind: "passivated", id, generation })
    this.#bus.reroute(key, waiting, { ready, unused: activation.isUnused })
    return ready
  }

  #linger(activation: Activation): void {
    this.#lingering.add(activation)
    void activation.deactivate("fenced").then(() => this.#lingering.delete(activation))
  }

  #isPlacedElsewhere(id: ActorId): boolean {
    const known = this.#joined.cached(id)
    return known?.kind === "placed" && !known.node.equals(this.#joined.node)
  }

  #methodProblem({ id, method }: Invocation): UnknownMethodError | undefined {
    const hosted = this.#types.get(id.type)
    if (hosted === undefined || hosted.method(method) !== undefined) return undefined
    return new UnknownMethodError(id.type, method)
  }

  #receive(guest: Guest): void {
    if (this.#isStopped) return guest.fail(new PlacementError(guest.key, "not-here", "this node is stopping"))
    if (this.#registry !== undefined) return this.#bus.receive(guest)
    guest.fail(
      guest.idProblem ??
        new PlacementError(guest.id.toString(), "not-here", "this node does not know yet that it has joined"),
    )
  }

  get #joined(): Registry {
    if (this.#registry === undefined) throw new TypeError("this node has not joined yet")
    return this.#registry
  }

  get #placed(): PlacementDriver<Tenure> {
    if (this.#placement === undefined) throw new TypeError("this node has not joined yet")
    return this.#placement
  }
}

function deadLetterReason(error: unknown): DeadLetterReason {
  if (error instanceof TimeoutError) return "expired"
  if (error instanceof OverloadedError) return "mailbox-full"
  if (error instanceof UnknownMethodError) return "unhandled"
  if (error instanceof InvalidMessageError) return "not-sendable"
  return error instanceof QuarantinedError ? "quarantined" : "unreachable"
}

/** Nobody has called a node that leaves for so long: everybody has heard that its actors are not there any more. */
const QUIET_MS = 100

const NO_CHAIN: readonly string[] = []
/** For actors of which only the name of their type is known. */
const StrangeHandle = handleShape([])

/** Who waits for a call that is made there. Throws an `InvalidMessageError` where so many do that it cannot be meant. */
function chainOf(from: Activation): readonly string[] {
  const { callChain } = from
  if (callChain.length <= MAX_CHAIN) return callChain
  throw new InvalidMessageError(
    `the call is made in a call that is made in another, and so on: ${MAX_CHAIN} may wait for each other`,
  )
}

/** Whom the calls through one handle are for, and who makes them; undefined for calls from outside of actors. */
interface Addressee {
  readonly id: ActorId
  readonly key: string
  /** Undefined where this node does not host the type. */
  readonly hosted: ActorType | undefined
  readonly from: Activation | undefined
}

function spanOf(telemetry: Telemetry, { id, from }: Addressee, method: string): Span {
  const attributes = { "troupe.actor": id.toString() }
  const parent = from?.currentTurn?.span?.context
  const options = parent === undefined ? { attributes } : { attributes, parent }
  return telemetry.span(`call ${id.type}.${method}`, options)
}

function noDuration(timeoutMs: unknown): RangeError {
  return new RangeError(
    `timeoutMs must be a number of milliseconds above 0 (got ${typeof timeoutMs} ${String(timeoutMs)})`,
  )
}

function typesOf(actors: readonly ActorClass[]): ReadonlyMap<string, ActorType> {
  const types = new Map<string, ActorType>()
  for (const actor of actors) {
    const type = new ActorType(actor)
    if (types.has(type.name))
      throw new SettingsError("actors", `two of them are called ${type.name}; set static type`)
    types.set(type.name, type)
  }
  return types
}

export interface VirtualActorsOptions {
  readonly realm: Realm
  readonly namespace: string
  readonly actors: readonly ActorClass[]
  readonly store: ClusterStore
  /** Of what is sent, and of what is saved. */
  readonly codec: Codec
  readonly stateCodec: Codec
  readonly context: TurnContext
  readonly scheduler: Scheduler
  readonly telemetry: Telemetry | undefined
  readonly mailboxCapacity: number
  readonly idleAfterMs: number
  readonly maxForwards: number
  readonly maxMessageBytes: number
  readonly maxStateBytes: number
  gateOf(node: NodeId): InternalRef<never> | undefined
}

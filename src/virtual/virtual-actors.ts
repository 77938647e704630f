import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { ClusterView } from "../membership/cluster-view.js"
import type { Candidate } from "../placement/placement-protocol.js"
import type { NodeLife } from "../registry/node-life.js"
import type { Registry } from "../registry/registry.js"
import type { Activation } from "./activation.js"
import { ActivationBecame, TurnOverdue } from "./activation-events.js"
import type { ActorClass } from "./actor-class.js"
import { ActorHost, type VirtualActorsOptions } from "./actor-host.js"
import { ActorsGate } from "./actors-gate.js"
import { CallRouter } from "./call-router.js"
import { Catalog } from "./catalog.js"
import { Handles } from "./handles.js"
import { IncomingCall } from "./incoming-call.js"
import { IncomingCalls } from "./incoming-calls.js"
import type { Invocation } from "./invocation.js"
import { Loads } from "./loads.js"
import { OutgoingCall } from "./outgoing-call.js"
import { notHere } from "./placement-answer.js"
import { PlacementDriver } from "./placement-driver.js"
import { QuietPeriod } from "./quiet-period.js"
import { Releases } from "./releases.js"

/**
 * The virtual actors of this node: puts registry, placement, catalog and calls together, and tells each what
 * the others learn.
 */
export class VirtualActors {
  readonly gate: ActorsGate
  /** What runs on this node. */
  readonly catalog: Catalog
  readonly #host: ActorHost
  readonly #router: CallRouter
  readonly #incoming: IncomingCalls
  readonly #quiet: QuietPeriod
  readonly #handles: Handles
  readonly #loads: Loads
  /** Activations that were fenced, and are out of the catalog, while something of them still runs. */
  readonly #lingering = new Set<Activation>()
  #releases: Releases | undefined

  constructor(options: VirtualActorsOptions) {
    const host = new ActorHost(options)
    const { environment } = options
    this.#host = host
    this.catalog = this.#makeCatalog()
    this.#quiet = new QuietPeriod(environment.clock)
    this.#router = new CallRouter(host, this.catalog, this.#quiet)
    this.#handles = new Handles(host, this.#router)
    this.#loads = new Loads({
      clock: environment.clock,
      isNeeded: [...host.types.values()].some(({ placement }) => placement !== undefined),
      self: () => host.registry.node,
      load: () => this.catalog.size,
      isMember: (node) => host.registry.view.has(node),
      tellOthers: (message) => this.#tellOthers(message),
    })
    this.#incoming = new IncomingCalls(host, this.catalog, this.#quiet, this.#loads)
    this.gate = new ActorsGate(environment.address, this.#incoming)
  }

  /** The types that this node hosts. */
  get types(): readonly string[] {
    return [...this.#host.types.keys()]
  }

  /** Whether nothing of any actor runs here. */
  get isIdle(): boolean {
    return this.catalog.size === 0 && this.#lingering.size === 0
  }

  /** How many activations are not gone, and the ids of some. */
  remaining(named: number): { readonly count: number; readonly sample: readonly ActorId[] } {
    const sample: ActorId[] = []
    for (const activations of [this.catalog.all, this.#lingering]) {
      for (const { id } of activations) {
        if (sample.length === named) break
        sample.push(id)
      }
    }
    return { count: this.catalog.size + this.#lingering.size, sample }
  }

  /** How many actors are being resolved for calls of this node, or called elsewhere. */
  get routes(): number {
    return this.#router.routes
  }

  /** How many actors that do not run here are being called by other nodes. */
  get resolving(): number {
    return this.#incoming.resolving
  }

  /** This node is a member from now on. */
  joined(registry: Registry): void {
    const { clock, logger } = this.#host.environment
    this.#host.registry = registry
    this.#releases = new Releases(registry, clock, logger)
    this.#loads.begin()
    this.#beginPlacing(registry, this.#releases)
  }

  /** Takes over the phase of the node's life that the registry has published. */
  lifeChanged(life: NodeLife): void {
    this.#host.life = life
    if (life.phase === "member") this.#rejoined()
    else if (life.phase === "fenced") this.#fenced(life.because)
    else if (life.phase === "stopped") this.#stop()
  }

  /** The first time there is no registry yet: `joined` brings it. */
  #rejoined(): void {
    if (this.#releases !== undefined) this.#beginPlacing(this.#host.registry, this.#releases)
  }

  viewed(view: ClusterView, before: ClusterView): void {
    const { seenTypes, hasJoined } = this.#host
    for (const { types } of view.members) for (const type of types) seenTypes.add(type)
    if (!hasJoined) return
    const { placement } = this.#host
    placement.handle({ kind: "topology-changed", topology: this.#topologyOf(view) })
    for (const { node } of before.members) {
      if (view.has(node)) continue
      placement.handle({ kind: "member-left", node })
      this.#router.nodeGone(node)
      this.#loads.forget(node)
    }
  }

  /**
   * The node's lease has run out, and its outcome is not known: what has not started goes back to its
   * callers.
   */
  turnAway(): void {
    for (const activation of this.catalog.all) activation.turnAway()
  }

  #fenced(because: string): void {
    this.#releases?.forget()
    if (this.#host.hasJoined) this.#host.placement.handle({ kind: "suspend", because })
    this.#router.makersOvertaken()
  }

  /** Resolves once nothing runs that was fenced. */
  async settled(): Promise<void> {
    // Of those in the catalog all others have left it: these were being started, and do not know yet.
    const starting = [...this.catalog.all].filter(({ tenure }) => tenure.endedBecause !== undefined)
    await Promise.all([...this.#lingering, ...starting].map((one) => one.deactivate("fenced")))
  }

  /** Ends all actors of this node: calls that wait for them go to their next activations, elsewhere. */
  async drain(): Promise<void> {
    this.#host.placement.handle({ kind: "start", as: "client" })
    await this.catalog.drain("leaving")
    // If this node was fenced meanwhile, some of them still run.
    await this.settled()
    const { calls } = this.#router
    const quietMs = this.#host.registry.view.members.length > 1 ? QUIET_MS : 0
    await this.#quiet.passed(quietMs, () => this.#incoming.resolving === 0 && this.#router.haveEnded(calls))
  }

  #stop(): void {
    this.catalog.stop()
    this.#releases?.forget()
    this.#loads.stop()
    this.#quiet.end()
    this.#router.stop()
    this.#incoming.stop()
    if (this.#host.hasJoined) this.#host.placement.handle({ kind: "stop" })
  }

  /** A handle. Throws an `ActorIdError` for what is no key. */
  handle(type: ActorClass | string, key: string): unknown {
    return this.#handles.of(type, key)
  }

  #makeCatalog(): Catalog {
    const { environment, options, logger } = this.#host
    return new Catalog({
      clock: environment.clock,
      scheduler: options.scheduler,
      logger,
      dispatcher: environment.dispatcher,
      deadlines: environment.deadlines,
      context: options.context,
      telemetry: options.telemetry,
      state: {
        store: options.store,
        clock: environment.clock,
        codec: options.stateCodec,
        maxStateBytes: options.maxStateBytes,
      },
      mailboxCapacity: options.mailboxCapacity,
      idleAfterMs: options.idleAfterMs,
      requestTimeoutMs: environment.askTimeoutMs,
      created: (activation) => {
        this.#router.created(activation)
        this.#incoming.created(activation)
      },
      became: (activation, state) => {
        if (environment.events.has(ActivationBecame)) {
          environment.events.publish(new ActivationBecame(activation.id, activation.generation, state))
        }
      },
      ended: (activation, waiting, isOwn) => this.#ended(activation, waiting, isOwn),
      reroute: (_key, invocations) => this.#returned(invocations, undefined, false),
      overdue: ({ id }, method, chain) => {
        logger.log("warn", "a turn takes longer than it may", { actor: id.toString(), method, chain })
        environment.events.publish(new TurnOverdue(id, method, chain))
      },
      handle: (type, key, from) => this.#handles.of(type, key, from),
    })
  }

  #beginPlacing(registry: Registry, releases: Releases): void {
    const { environment, types, options } = this.#host
    const placement = new PlacementDriver({
      namespace: options.namespace,
      registry,
      releases,
      catalog: this.catalog,
      types,
      clock: environment.clock,
      random: environment.random,
      events: environment.events,
    })
    this.#host.placement = placement
    placement.handle({ kind: "topology-changed", topology: this.#topologyOf(registry.view) })
    placement.handle({ kind: "start", as: types.size > 0 ? "member" : "client" })
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
    const load = node.equals(this.#host.registry.node) ? this.catalog.size : this.#loads.of(node)
    return load === undefined ? { node } : { node, load }
  }

  #tellOthers(message: readonly unknown[]): void {
    const { node: self, view } = this.#host.registry
    for (const { node } of view.members) {
      if (!node.equals(self)) this.#host.options.gateOf(node)?.tell(message as never)
    }
  }

  #ended(
    activation: Activation,
    waiting: readonly Invocation[],
    isOwn: boolean,
  ): Promise<unknown> | undefined {
    const { id, tenure, generation } = activation
    const { placement } = this.#host
    if (activation.hasFailed) placement.noteFailed(activation)
    if (!isOwn) this.#linger(activation)
    // One that could not be started is released by the coordinator, which had it claimed.
    const isReleased = isOwn && !placement.isStarting(tenure)
    const ready = isReleased ? this.#releases?.release(tenure) : undefined
    placement.handle({ kind: "passivated", id, generation })
    this.#returned(waiting, ready, activation.isUnused)
    return ready
  }

  /** Takes back what an activation has not run. Its callers look for the next one. */
  #returned(
    invocations: readonly Invocation[],
    ready: Promise<unknown> | undefined,
    isUnused: boolean,
  ): void {
    const own = invocations.filter((one) => one instanceof OutgoingCall)
    this.#router.returned(own, ready, isUnused)
    for (const one of invocations) {
      if (!(one instanceof IncomingCall)) continue
      if (isUnused) one.fail(notHere(one.id, "it ended as soon as it had begun"))
      else this.#incoming.receive(one)
    }
  }

  #linger(activation: Activation): void {
    this.#lingering.add(activation)
    void activation.deactivate("fenced").then(() => this.#lingering.delete(activation))
  }
}

/**
 * Nobody has called a node that leaves for so long: everybody has heard that its actors are not there any
 * more.
 */
const QUIET_MS = 100

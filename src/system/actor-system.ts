import type { SpawnOptions } from "../actor/actor-context.js"
import type { ActorEnvironment } from "../actor/actor-environment.js"
import type { ActorRef } from "../actor/actor-ref.js"
import { type AskOptions, ask } from "../actor/ask.js"
import type { Behavior } from "../actor/behavior.js"
import type { Cell } from "../actor/cell.js"
import type { EventStream } from "../actor/event-stream.js"
import { guardedLogger } from "../actor/guarded-logger.js"
import { ActorPath } from "../address/actor-path.js"
import type { Address } from "../address/address.js"
import type { NodeId } from "../address/node-id.js"
import { ClusterView } from "../membership/cluster-view.js"
import type { Figures } from "../membership/gossip-state.js"
import type { SeedCluster } from "../membership/seed-cluster.js"
import type { Ports } from "../ports/ports.js"
import type { ClusterStore, StoreProvider } from "../ports/store.js"
import type { Registry } from "../registry/registry.js"
import { StartWait } from "../registry/start-wait.js"
import type { AssociationState } from "../remote/association-protocol.js"
import type { RemoteRef } from "../remote/remote-ref.js"
import type { Remoting } from "../remote/remoting.js"
import { fingerprints } from "../remote/shared-keys.js"
import type { Sharding } from "../sharding/entities/entity-options.js"
import { EntitySharding } from "../sharding/entities/entity-sharding.js"
import type { Actor } from "../virtual/actor.js"
import type { ActorClass, ActorHandle } from "../virtual/actor-class.js"
import type { ActorsGate } from "../virtual/actors-gate.js"
import type { FindOptions, FindQuery, FoundActors } from "../virtual/find.js"
import type { VirtualActors } from "../virtual/virtual-actors.js"
import type { ActorKeys, ListActorsOptions } from "./actor-keys.js"
import type { ActorPlace } from "./actor-place.js"
import { type BoundListener, bindListener } from "./bound-listener.js"
import { Cluster, type ClusterDependencies } from "./cluster.js"
import type { Finding } from "./finding.js"
import { guardian } from "./guardian.js"
import type { ActorInspection, InspectOptions } from "./inspection.js"
import { joinBySeeds } from "./join-by-seeds.js"
import { Observers } from "./observers.js"
import { OwnActors, unresolved } from "./own-actors.js"
import { type ActorSystemSettings, type CheckedSettings, checkSettings } from "./settings.js"
import type { ClusterSnapshot, ClusterSnapshotOptions, SnapshotOptions, SystemSnapshot } from "./snapshot.js"
import type { StartOptions } from "./start-options.js"
import type { Starting } from "./starting.js"
import { stopActor } from "./stop-actor.js"
import { systemEnvironment } from "./system-environment.js"
import { type SystemHealth, type SystemPhase, systemHealth } from "./system-health.js"
import { systemRemoting } from "./system-remoting.js"

/**
 * A system of actors in this process. It connects the parts of the runtime, holds the two guardians, and is
 * where a program begins and ends.
 *
 * Stopping proceeds down the tree: actors of the program first, children before parents, then actors of the
 * runtime. An actor that does not stop within `drainMs` is abandoned and reported, because a process that
 * cannot end is worse than an interrupted actor.
 */
export class ActorSystem implements AsyncDisposable {
  /** Returns the registry of a system, for code that is built on top of it. */
  static readonly registryOf = (system: ActorSystem): Registry | undefined => system.#cluster?.registry
  /** Returns the virtual actors of a system, for code that is built on top of it. */
  static readonly actorsOf = (system: ActorSystem): VirtualActors | undefined => system.#cluster?.actors
  /** Returns what observes a system, for code that is built on top of it. */
  static readonly observersOf = (system: ActorSystem): Observers => system.#observers

  /** The events of this system, by class. */
  readonly events: EventStream
  /** The address that the paths of this system's actors begin with. */
  readonly address: Address
  readonly #environment: ActorEnvironment
  readonly #settings: CheckedSettings
  readonly #user: Cell
  readonly #system: Cell
  readonly #own: OwnActors
  readonly #remoting: Remoting | undefined
  readonly #store: ClusterStore | undefined
  #cluster: Cluster | undefined
  /** Undefined unless this node has seeds. */
  readonly #sharding: EntitySharding | undefined
  /** Undefined with a store, and without seeds. */
  #seedCluster: SeedCluster | undefined
  #gate: ActorsGate | undefined
  readonly #observers: Observers
  #stopping: Promise<void> | undefined
  #phase: SystemPhase

  /**
   * Starts a system on the given ports. Programs use the exported `ActorSystem.start`, which has ports of its
   * own. `privateStore` is used if the system hosts actors and no store is set.
   */
  static async start(
    settings: ActorSystemSettings,
    ports: Ports,
    { privateStore, signal }: StartOptions & { readonly privateStore?: StoreProvider } = {},
  ): Promise<ActorSystem> {
    const checked = checkSettings(settings)
    const { namespace, address, joinMs } = checked
    const { clock, random } = ports
    const logger = guardedLogger(ports.logger).with({ system: address.system })
    const wait = new StartWait({ clock, random, logger }, joinMs, signal)
    const isPrivate = checked.store === undefined
    const provider = isPrivate && checked.actors.length > 0 ? privateStore : checked.store
    wait.throwIfAborted()
    const store = provider && (await wait.retry("open", () => provider.open(namespace, ports)))
    try {
      return await ActorSystem.#startWith(checked, { ports, store, isPrivate, wait })
    } catch (error) {
      await store?.close()
      throw error
    }
  }

  static async #startWith(settings: CheckedSettings, starting: Starting): Promise<ActorSystem> {
    const { ports, store } = starting
    const { listen } = settings.remote
    const bound = listen === undefined ? undefined : await bindListener(listen, settings, ports)
    const system = new ActorSystem(settings, ports, store, bound)
    if (system.#remoting !== undefined) bound?.deliverTo(system.#remoting.arrivals)
    try {
      starting.wait.throwIfAborted()
      const shown = bound === undefined ? [] : fingerprints(bound.keys, ports.digest)
      if (store !== undefined) await system.#join({ ...starting, store, fingerprints: shown })
      else await system.#joinBySeeds(starting)
    } catch (error) {
      await system.#remoting?.stop()
      throw error
    }
    return system
  }

  private constructor(
    settings: CheckedSettings,
    ports: Ports,
    store: ClusterStore | undefined,
    bound: BoundListener | undefined,
  ) {
    this.#store = store
    this.#settings = settings
    this.#environment = systemEnvironment(settings, ports, bound)
    const { address, events, clock } = this.#environment
    this.#phase = { name: "running", since: clock.monotonicMs() }
    this.address = address
    this.events = events
    this.#user = guardian(this.#environment, "user")
    this.#system = guardian(this.#environment, "system")
    this.#observers = new Observers(this, this.#environment, { settings, ...this.#phase })
    this.#own = new OwnActors(this.#environment, { user: this.#user, system: this.#system }, () => ({
      gate: this.#gate,
      observer: this.#observers.gate,
      sharding: this.#sharding,
      remoting: this.#remoting,
    }))
    if (bound === undefined) return
    this.#remoting = systemRemoting({
      settings,
      ports,
      environment: this.#environment,
      bound,
      store: store?.identity ?? "",
      local: (path) => this.#own.ref(path),
    })
    if (settings.membership.seeds.length === 0) return
    this.#sharding = new EntitySharding({
      environment: this.#environment,
      shards: settings.shards,
      self: () => this.#remoting?.self ?? bound.self,
      guardian: this.#system,
      resolve: (path) => this.resolve(path) as RemoteRef<never>,
    })
  }

  /** The id of this node in its current incarnation; undefined if the system does not listen. */
  get node(): NodeId | undefined {
    return this.#remoting?.self
  }

  /** The members of the cluster as this node knows them; empty without a store or seeds. */
  get cluster(): ClusterView {
    return this.#cluster?.registry.view ?? this.#seedCluster?.view ?? ClusterView.empty
  }

  /** Entities that are spread over the nodes of a cluster by seeds. Throws a `TypeError` without `seeds`. */
  get sharding(): Sharding {
    if (this.#sharding !== undefined) return this.#sharding
    throw new TypeError("sharding needs a cluster by seeds; set listen, seeds and shards")
  }

  /** Returns how busy a member is, as it says itself; undefined if that is not known. */
  figures(node: NodeId): Figures | undefined {
    return (this.#cluster ?? this.#seedCluster)?.figuresOf(node.toString())
  }

  /** Returns the state of the association with the node at `host:port`; undefined if there is none. */
  association(authority: string): AssociationState["kind"] | undefined {
    return this.#remoting?.state(authority)?.kind
  }

  /**
   * Stops all exchange with that node for `quarantineMs`, or until the quarantine is lifted. A new
   * incarnation of the node is not affected.
   */
  quarantine(authority: string, reason: string): void {
    this.#remote("quarantine").quarantine(authority, reason)
  }

  /** Ends a quarantine, and connects to the node again. */
  liftQuarantine(authority: string): void {
    this.#remote("liftQuarantine").liftQuarantine(authority)
  }

  /** Returns the state of this system: whether it is ready, or why not, and its figures. */
  health(): SystemHealth {
    const now = this.#environment.clock.monotonicMs()
    return {
      ...systemHealth(this.#phase, now, this.#sharding?.hosted),
      ...(this.#cluster ?? this.#seedCluster)?.health(now),
      node: this.node?.toString(),
      connected: this.#remoting?.connected ?? 0,
      deadLetters: this.deadLetterCount,
    }
  }

  /** Returns what this system does and what went wrong, as plain data. */
  snapshot(options?: SnapshotOptions): SystemSnapshot {
    return this.#observers.here.snapshot(options)
  }

  /** Asks all members of the cluster for their snapshots, and names those that do not answer. */
  clusterSnapshot(options?: ClusterSnapshotOptions): Promise<ClusterSnapshot> {
    return this.#observers.everywhere.snapshot(options)
  }

  /** Returns what its node and the store know of a virtual actor, and starts nothing. */
  inspect(type: ActorClass | string, key: string, options?: InspectOptions): Promise<ActorInspection> {
    return this.#observers.inspect(type, key, options)
  }

  /** The number of messages that went to dead letters. */
  get deadLetterCount(): number {
    return this.#environment.deadLetters.count
  }

  /**
   * Returns a handle of a virtual actor; nothing is sent until a method is called. Throws an `ActorIdError`
   * if the key is invalid, and a `TypeError` if this system has neither actors nor a store.
   */
  actor<A extends Actor>(type: ActorClass<A> | string, key: string): ActorHandle<A> {
    if (this.#cluster !== undefined) return this.#cluster.actors.handle(type, key) as ActorHandle<A>
    throw new TypeError(
      "this system cannot call actors; set actors, or set store and listen to call actors of other nodes",
    )
  }

  /**
   * Lists the keys of all stored actors of a type, given as the class or its name, whether or not any node
   * hosts it. Starts none of them. Throws an `ActorIdError` if the type or `after` is invalid, and a
   * `TypeError` if the type has `durable = false`, or if this system has neither actors nor a store.
   */
  list(type: ActorClass | string, options?: ListActorsOptions): ActorKeys {
    return this.#finding("list").list(type, options)
  }

  /**
   * Returns the node that has an actor, without starting it; undefined if no live node has it. Of a sharded
   * type it is the node that has the actor's shard, where the actor runs or would start. Rejects with a
   * `StoreUnavailableError`, an `ActorIdError`, or a `TypeError` if only the class says in which shard the
   * actor is and neither it nor a host of the type is here.
   */
  locate(type: ActorClass | string, key: string): Promise<ActorPlace | undefined> {
    return this.#finding("locate").locate(type, key)
  }

  /**
   * Finds the actors with a value in an index of their type, or with values in a range: a page of their keys,
   * exact at one moment. Rejects with an `IndexBuildingError` while the index does not have all actors.
   */
  find(type: ActorClass | string, query: FindQuery, options?: FindOptions): Promise<FoundActors> {
    return this.#finding("find").find(type, query, options)
  }

  /**
   * Destroys an actor: its state, its reminders, and where it is. Resolves when nothing can bring it back. It
   * may be repeated, and does nothing to an actor that has no state. An actor that does not run is destroyed
   * without being started, so one that cannot start can be destroyed. Rejects as a call does, and with a
   * `TypeError` if the type has `durable = false`.
   */
  destroy(type: ActorClass | string, key: string): Promise<void> {
    return this.#finding("destroy").destroy(type, key)
  }

  /**
   * Starts an actor under `/user`. Without a name the actor gets a generated one. Throws a `NameTakenError`
   * if another actor has the name.
   */
  spawn<M>(behavior: Behavior<M>, name?: string, options?: SpawnOptions): ActorRef<M> {
    return this.#user.spawn(behavior, name, options)
  }

  /**
   * Sends the result of `message` and resolves with the first message sent to `replyTo`. Rejects with a
   * `CallError`.
   */
  ask<T, R>(target: ActorRef<T>, message: (replyTo: ActorRef<R>) => T, options?: AskOptions): Promise<R> {
    return ask(this.#environment, target, message, options)
  }

  /**
   * Returns a ref for a path. It refers to the actor that is there when a message is sent, or to one
   * incarnation if the path has a uid. Throws an `ActorPathError` if the path is invalid, and a
   * `PathResolutionError` if it is on another node and this system does not listen.
   */
  resolve<M>(path: string | ActorPath): ActorRef<M> {
    const parsed = path instanceof ActorPath ? path : ActorPath.parse(path, { runtimeNames: true })
    if (this.#own.has(parsed)) return this.#own.ref<M>(parsed)
    if (this.#remoting === undefined || parsed.address.authority === undefined) {
      throw unresolved(parsed, this.#remoting !== undefined)
    }
    return this.#remoting.resolve(parsed) as ActorRef<M>
  }

  /** Stops an actor of this node. Resolves once the actor and its children have stopped. */
  stopActor(ref: ActorRef<never>): Promise<void> {
    return stopActor(ref)
  }

  /**
   * Stops every actor. Resolves when all have stopped or `drainMs` has passed. Further calls return the same
   * promise.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #join(
    joining: Pick<ClusterDependencies, "ports" | "store" | "isPrivate" | "wait" | "fingerprints">,
  ): Promise<void> {
    this.#cluster = await Cluster.join({
      ...joining,
      settings: this.#settings,
      environment: this.#environment,
      remoting: this.#remoting,
      resolve: (path) => this.resolve(path),
      opened: (gate) => {
        this.#gate = gate
      },
    })
    this.#observers.parts = this.#cluster
  }

  async #joinBySeeds({ ports, wait }: Pick<Starting, "ports" | "wait">): Promise<void> {
    const settings = this.#settings
    const remoting = this.#remoting
    const sharding = this.#sharding
    if (remoting === undefined || sharding === undefined) return
    const environment = this.#environment
    this.#seedCluster = await joinBySeeds({ settings, environment, ports, remoting, sharding, wait })
  }

  async #stop(): Promise<void> {
    const [{ clock }, { drainMs }] = [this.#environment, this.#settings]
    const since = clock.monotonicMs()
    const leftMs = () => Math.max(since + drainMs - clock.monotonicMs(), drainMs * LEAST_SHARE)
    this.#phase = { name: "leaving", since }
    const isHandedOff = this.#sharding === undefined || (await this.#sharding.leave(drainMs))
    if (isHandedOff) await (this.#cluster ?? this.#seedCluster)?.leave(leftMs())
    this.#sharding?.stop()
    const deadline = clock.setTimer(leftMs(), () => {
      this.#user.abandon()
      this.#system.abandon()
    })
    await this.stopActor(this.#user.ref)
    await this.stopActor(this.#system.ref)
    deadline.cancel()
    // Calls that wait here are refused, and their callers are told before the connections close.
    await (this.#cluster ?? this.#seedCluster)?.stop()
    this.#observers.here.stop()
    this.#environment.deadlines.stop()
    await this.#remoting?.stop()
    await this.#store?.close()
    this.events.flush()
    this.#phase = { name: "stopped", since: clock.monotonicMs() }
  }

  #finding(what: string): Finding {
    if (this.#cluster !== undefined) return this.#cluster.finding
    throw new TypeError(`${what} needs the store of a cluster; set actors, or set store`)
  }

  #remote(what: string): Remoting {
    if (this.#remoting !== undefined) return this.#remoting
    throw new TypeError(`${what} needs connections to other nodes; set listen`)
  }
}

/** The share of `drainMs` that each step of a stop may take, even if the steps before it have used up all. */
const LEAST_SHARE = 0.2

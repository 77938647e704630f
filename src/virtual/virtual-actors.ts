import type { NodeId } from "../address/node-id.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { ClusterView } from "../membership/cluster-view.js"
import type { Candidate } from "../placement/placement-protocol.js"
import type { ActorTable } from "../registry/actor-table.js"
import type { NodeLife } from "../registry/node-life.js"
import { onceName, versionName } from "../registry/published.js"
import { typeIndexText } from "../registry/published-indexes.js"
import type { Registry } from "../registry/registry.js"
import type { ActorClass } from "./actor-class.js"
import type { ActorEntry } from "./actor-entry.js"
import { ActorHost, type VirtualActorsOptions } from "./actor-host.js"
import { ActorsGate } from "./actors-gate.js"
import type { Catalog } from "./catalog.js"
import { takeBackIndexes } from "./index-terms.js"
import { PlacementDriver } from "./placement-driver.js"
import { UnreadCodecs } from "./unread-codecs.js"

/**
 * The virtual actors of this node, as seen by the system. Passes changes of the node and of the cluster on to
 * the parts of the actor host.
 */
export class VirtualActors {
  readonly gate: ActorsGate
  readonly host: ActorHost
  readonly #unread: UnreadCodecs
  /** Whether this incarnation has met another node, or need not. */
  #hasMet = true

  constructor(options: VirtualActorsOptions) {
    this.host = new ActorHost(options)
    this.#unread = new UnreadCodecs(options.stateCodecs, this.host.logger)
    this.gate = new ActorsGate(options.environment.address, this.host.incoming)
  }

  /** The activations of this node. */
  get catalog(): Catalog {
    return this.host.catalog
  }

  /** The actors that this node calls, starts or runs. */
  get table(): ActorTable<ActorEntry> {
    return this.host.table
  }

  /** The types that this node hosts. */
  get types(): readonly string[] {
    return [...this.host.types.keys()]
  }

  /** The `once` methods of these types. */
  get onceMethods(): readonly string[] {
    return [...this.host.types.values()].flatMap((type) =>
      type.onceMethods.map((method) => onceName(type.name, method)),
    )
  }

  /** The indexes of these types. */
  get indexes(): readonly string[] {
    return [...this.host.types.values()].flatMap(({ name, indexes }) =>
      indexes.map((index) => typeIndexText(name, index)),
    )
  }

  /** The versions of the states of the durable types, as records say them. */
  get stateVersions(): readonly string[] {
    const durable = [...this.host.types.values()].filter(({ durability }) => durability.isDurable)
    return durable.flatMap(({ name, stateVersion }) =>
      stateVersion === 0 ? [] : [versionName(name, stateVersion)],
    )
  }

  /** The classes of durable types that have no name of their own, and use that of the class. */
  get unnamed(): readonly ActorClass[] {
    const durable = [...this.host.types.values()].filter(({ durability }) => durability.isDurable)
    return durable.map(({ make }) => make).filter((make) => make.type === undefined)
  }

  /** The number of actors that are resolved for calls of this node, or called on other nodes. */
  get routes(): number {
    return this.host.router.routes
  }

  /** The number of actors that do not run here and are called by other nodes. */
  get resolving(): number {
    return this.host.incoming.resolving
  }

  /** Handles the first join of this node. */
  joined(registry: Registry): void {
    this.host.joined(registry)
    this.#beginPlacing()
  }

  /** Handles a new phase of the node's life, as published by the registry. */
  lifeChanged(life: NodeLife): void {
    this.host.life = life
    // Before the first join there is no registry; `joined` sets it.
    if (life.phase === "member" && this.host.hasJoined) this.#beginPlacing()
    else if (life.phase === "fenced") this.#fenced(life.because)
    else if (life.phase === "stopped") this.#stop()
  }

  /** The node has joined again: what it does not keep complete may have been completed meanwhile. */
  async rejoined(stopping: AbortSignal): Promise<void> {
    const { options, types, clock } = this.host
    for (let isDone = types.size === 0; !isDone && !stopping.aborted; ) {
      try {
        await takeBackIndexes(options.store, types.values())
        isDone = true
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error
        await new Promise<void>((resolve) => clock.setTimer(RETRY_MS, resolve))
      }
    }
  }

  /** This incarnation has met another node, or there is none: it may host actors. */
  met(): void {
    this.#hasMet = true
    if (this.host.hasJoined && this.host.life?.phase === "member") this.#startPlacing()
  }

  viewed(view: ClusterView, before: ClusterView): void {
    const { seenTypes, hasJoined, router } = this.host
    for (const { types } of view.members) for (const type of types) seenTypes.add(type)
    if (!hasJoined) return
    const { placement, homecoming, registry, types } = this.host
    this.#unread.look(registry.published, types.keys())
    placement.handle({ kind: "topology-changed", topology: this.#topologyOf(view) })
    homecoming.viewed(view, before)
    for (const { node, status } of before.members) {
      if (view.has(node)) continue
      placement.handle({ kind: "member-left", node })
      router.nodeGone(node, status === "leaving")
    }
  }

  /** Ends all actors of this node; calls that wait for them go to their next activations on other nodes. */
  async drain(): Promise<void> {
    const { catalog, homecoming, placement } = this.host
    placement.handle({ kind: "start", as: "client" })
    homecoming.stop()
    await catalog.drain("leaving")
    // If this node was fenced in the meantime, some activations still run.
    await catalog.settled()
  }

  /** Resolves when all calls have ended, and no more arrive. */
  async becomeQuiet(): Promise<void> {
    const { registry, router, incoming, quiet } = this.host
    const { calls } = router
    const quietMs = registry.view.members.length > 1 ? QUIET_MS : 0
    await quiet.passed(quietMs, () => incoming.resolving === 0 && router.haveEnded(calls))
  }

  /** Returns a handle; throws an `ActorIdError` if the key is invalid. */
  handle(type: ActorClass | string, key: string): unknown {
    return this.host.handles.of(type, key)
  }

  #fenced(because: string): void {
    if (this.host.hasJoined) {
      this.host.releases.forget()
      this.host.placement.handle({ kind: "suspend", because })
    }
    this.host.router.makersSuperseded()
  }

  #stop(): void {
    const { catalog, homecoming, quiet, router, incoming, hasJoined } = this.host
    catalog.stop()
    catalog.turnAway()
    homecoming.stop()
    quiet.end()
    router.stop()
    incoming.stop()
    if (!hasJoined) return
    this.host.releases.forget()
    this.host.placement.handle({ kind: "stop" })
  }

  /** Creates the placement coordinator of a new incarnation of the node. */
  #beginPlacing(): void {
    const { registry, options } = this.host
    const placement = new PlacementDriver(this.host)
    this.host.placement = placement
    placement.handle({ kind: "topology-changed", topology: this.#topologyOf(registry.view) })
    this.#hasMet = !options.meetsOthers
    this.#startPlacing()
  }

  /** A node that hosts nothing calls through others anyway. */
  #startPlacing(): void {
    const { types, placement } = this.host
    placement.handle({ kind: "start", as: types.size > 0 ? "member" : "client" })
    if (types.size > 0 && !this.#hasMet) placement.handle({ kind: "suspend", because: ALONE })
  }

  #topologyOf(view: ClusterView) {
    return {
      version: view.version,
      has: (node: NodeId) => view.has(node),
      isLeaving: (node: NodeId) => view.member(node)?.status === "leaving",
      candidates: (type: string, stateVersion?: number) =>
        stateVersion === undefined
          ? this.#candidates(view, type)
          : this.#candidatesOf(view, type, stateVersion),
    }
  }

  /** The hosts that know the version: those that can be reached, or all of them if none can. */
  #candidatesOf(view: ClusterView, type: string, stateVersion: number): readonly Candidate[] {
    const { published } = this.host.registry
    const able = view.members.filter(({ node, status }) => {
      return status === "up" && (published.versionOn(node.text, type) ?? -1) >= stateVersion
    })
    const reached = able.filter(({ node }) => view.isReachable(node))
    return this.#withLoads(reached.length === 0 ? able : reached)
  }

  /** Omits the loads if the type has no strategy; the candidates then depend only on the view. */
  #candidates(view: ClusterView, type: string): readonly Candidate[] {
    const { types, registry, directories } = this.host
    if (types.get(type)?.placement === undefined) {
      const self = directories.has(type) ? view.member(registry.node) : undefined
      // A node that leaves starts the actors of its shards until they have moved: turns may wait for them.
      return self?.status === "leaving" ? [...view.hosting(type), self] : view.hosting(type)
    }
    return this.#withLoads(view.hosting(type))
  }

  #withLoads(members: readonly Candidate[]): readonly Candidate[] {
    const { options, registry, catalog } = this.host
    return members.map(({ node }) => {
      const load = node.equals(registry.node) ? catalog.size : options.loadOf(node)
      return load === undefined ? { node } : { node, load }
    })
  }
}

/** Why a node that reaches its store, and no other node, hosts nothing. */
export const ALONE = "this node has not reached any of the other nodes yet"

/**
 * A leaving node waits until it has not been called for this long: by then all nodes have learned that its
 * actors are no longer there.
 */
const QUIET_MS = 100
const RETRY_MS = 500

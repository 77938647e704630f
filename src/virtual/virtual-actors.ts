import type { NodeId } from "../address/node-id.js"
import type { ClusterView } from "../membership/cluster-view.js"
import type { Candidate } from "../placement/placement-protocol.js"
import type { NodeLife } from "../registry/node-life.js"
import type { Registry } from "../registry/registry.js"
import type { ActorClass } from "./actor-class.js"
import { ActorHost, type VirtualActorsOptions } from "./actor-host.js"
import { ActorsGate } from "./actors-gate.js"
import type { Catalog } from "./catalog.js"
import { PlacementDriver } from "./placement-driver.js"

/**
 * The virtual actors of this node, as the system sees them: tells the parts of their host what happens to the
 * node and to the cluster.
 */
export class VirtualActors {
  readonly gate: ActorsGate
  readonly #host: ActorHost

  constructor(options: VirtualActorsOptions) {
    this.#host = new ActorHost(options)
    this.gate = new ActorsGate(options.environment.address, this.#host.incoming)
  }

  /** What runs on this node. */
  get catalog(): Catalog {
    return this.#host.catalog
  }

  /** The types that this node hosts. */
  get types(): readonly string[] {
    return [...this.#host.types.keys()]
  }

  /** How many actors are being resolved for calls of this node, or called elsewhere. */
  get routes(): number {
    return this.#host.router.routes
  }

  /** How many actors that do not run here are being called by other nodes. */
  get resolving(): number {
    return this.#host.incoming.resolving
  }

  /** This node is a member from now on. */
  joined(registry: Registry): void {
    this.#host.joined(registry)
    this.#host.loads.begin()
    this.#beginPlacing()
  }

  /** Takes over the phase of the node's life that the registry has published. */
  lifeChanged(life: NodeLife): void {
    this.#host.life = life
    // The first time there is no registry yet: `joined` brings it.
    if (life.phase === "member" && this.#host.hasJoined) this.#beginPlacing()
    else if (life.phase === "fenced") this.#fenced(life.because)
    else if (life.phase === "stopped") this.#stop()
  }

  viewed(view: ClusterView, before: ClusterView): void {
    const { seenTypes, hasJoined, router, loads } = this.#host
    for (const { types } of view.members) for (const type of types) seenTypes.add(type)
    if (!hasJoined) return
    const { placement } = this.#host
    placement.handle({ kind: "topology-changed", topology: this.#topologyOf(view) })
    for (const { node } of before.members) {
      if (view.has(node)) continue
      placement.handle({ kind: "member-left", node })
      router.nodeGone(node)
      loads.forget(node)
    }
  }

  /** Ends all actors of this node: calls that wait for them go to their next activations, elsewhere. */
  async drain(): Promise<void> {
    const { catalog, placement, registry, router, incoming, quiet } = this.#host
    placement.handle({ kind: "start", as: "client" })
    await catalog.drain("leaving")
    // If this node was fenced meanwhile, some of them still run.
    await catalog.settled()
    const { calls } = router
    const quietMs = registry.view.members.length > 1 ? QUIET_MS : 0
    await quiet.passed(quietMs, () => incoming.resolving === 0 && router.haveEnded(calls))
  }

  /** A handle. Throws an `ActorIdError` for what is no key. */
  handle(type: ActorClass | string, key: string): unknown {
    return this.#host.handles.of(type, key)
  }

  #fenced(because: string): void {
    if (this.#host.hasJoined) {
      this.#host.releases.forget()
      this.#host.placement.handle({ kind: "suspend", because })
    }
    this.#host.router.makersOvertaken()
  }

  #stop(): void {
    const { catalog, loads, quiet, router, incoming, hasJoined } = this.#host
    catalog.stop()
    loads.stop()
    quiet.end()
    router.stop()
    incoming.stop()
    if (!hasJoined) return
    this.#host.releases.forget()
    this.#host.placement.handle({ kind: "stop" })
  }

  /** Each life of the node has its own placement. */
  #beginPlacing(): void {
    const { types, registry } = this.#host
    const placement = new PlacementDriver(this.#host)
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
    const { loads } = this.#host
    if (!loads.isNeeded) return view.hosting(type)
    return view.hosting(type).map(({ node }) => {
      const load = loads.of(node)
      return load === undefined ? { node } : { node, load }
    })
  }
}

/**
 * A node that leaves waits until it was not called for this long: by then all nodes have heard that its
 * actors are no longer there.
 */
const QUIET_MS = 100

import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { PlacementLog } from "./placement-log.js"
import type { Candidate, CoordinatorState, Role, Topology } from "./placement-protocol.js"

/**
 * What this node is in the cluster, and the members that it knows: those of the newest topology, less those
 * that are known to have left since. The report of a single member may come ahead of the next topology. A
 * node id is one life of a node, so a member that has left never comes back, and a topology that still has it
 * is only late.
 */
export class ClusterRole {
  readonly self: NodeId
  readonly #log: PlacementLog
  #role: Role | undefined
  #suspendedBecause: string | undefined
  #topology: Topology | undefined
  /** Members of the topology that have left, by their text. */
  readonly #left = new Map<string, NodeId>()

  constructor(self: NodeId, log: PlacementLog) {
    this.self = self
    this.#log = log
  }

  get state(): CoordinatorState {
    if (this.#role === undefined) return "stopped"
    return this.notReadyBecause === undefined ? this.#role : "not-ready"
  }

  /** Why nothing can be resolved; undefined where it can. */
  get notReadyBecause(): string | undefined {
    if (this.#role === undefined) return "it is stopped"
    if (this.#suspendedBecause !== undefined) return this.#suspendedBecause
    return this.#topology === undefined ? "the cluster is not known yet" : undefined
  }

  get isMember(): boolean {
    return this.#role === "member"
  }

  /** Undefined before the first topology. */
  get topologyVersion(): number | undefined {
    return this.#topology?.version
  }

  start(as: Role, now: MonotonicMs): void {
    const before = this.state
    this.#role = as
    this.#suspendedBecause = undefined
    this.#logChange(before, `it was started as a ${as}`, now)
  }

  suspend(because: string, now: MonotonicMs): void {
    const before = this.state
    this.#suspendedBecause = because
    this.#logChange(before, because, now)
  }

  stop(because: string, now: MonotonicMs): void {
    const before = this.state
    this.#role = undefined
    this.#logChange(before, because, now)
  }

  /** Returns false if the topology is no newer than the one that is known. */
  update(topology: Topology, now: MonotonicMs): boolean {
    if (this.#topology !== undefined && topology.version <= this.#topology.version) return false
    const before = this.state
    this.#topology = topology
    // What the topology has dropped by itself need not be remembered.
    for (const [text, node] of this.#left) if (!topology.has(node)) this.#left.delete(text)
    this.#log.add({ kind: "topology-changed", version: topology.version }, now)
    this.#logChange(before, "the cluster is known", now)
    return true
  }

  removeMember(node: NodeId, now: MonotonicMs): void {
    if (this.#topology?.has(node)) this.#left.set(node.toString(), node)
    this.#log.add({ kind: "member-left", node }, now)
  }

  hasMember(node: NodeId): boolean {
    if (this.#topology?.has(node) !== true) return false
    return this.#left.size === 0 || !this.#left.has(node.toString())
  }

  /** The members that may host the type; a client is not one of them, whatever the topology still says. */
  hosts(type: string): readonly Candidate[] {
    const candidates = this.#topology?.candidates(type) ?? []
    const present = this.#left.size === 0 ? candidates : candidates.filter(({ node }) => this.hasMember(node))
    return this.isMember ? present : present.filter(({ node }) => !node.equals(this.self))
  }

  /** Whether this node may host the type. */
  isHost(type: string): boolean {
    return this.hosts(type).some(({ node }) => node.equals(this.self))
  }

  #logChange(before: CoordinatorState, because: string, now: MonotonicMs): void {
    if (this.state !== before) this.#log.add({ kind: "became", state: this.state, because }, now)
  }
}

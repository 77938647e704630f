import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { PlacementLog } from "./placement-log.js"
import type { Candidate, CoordinatorState, Role, Topology } from "./placement-protocol.js"

/**
 * The role of this node in the cluster, and the members that it knows: those of the newest topology, except
 * those that are known to have left since. A `member-left` event may precede the topology without that
 * member. A node id stands for one incarnation of a node, so a member that has left never returns, and a
 * topology that still contains it is outdated.
 */
export class ClusterRole {
  readonly self: NodeId
  readonly #log: PlacementLog
  #role: Role | undefined
  #suspendedBecause: string | undefined
  #topology: Topology | undefined
  /** Members of the topology that have left, by the text of their node id. */
  readonly #left = new Map<string, NodeId>()

  constructor(self: NodeId, log: PlacementLog) {
    this.self = self
    this.#log = log
  }

  get state(): CoordinatorState {
    if (this.#role === undefined) return "stopped"
    return this.notReadyBecause === undefined ? this.#role : "not-ready"
  }

  /** The reason why no actor can be resolved; undefined if this node is ready. */
  get notReadyBecause(): string | undefined {
    if (this.#role === undefined) return "the coordinator is stopped"
    if (this.#suspendedBecause !== undefined) return this.#suspendedBecause
    return this.#topology === undefined ? "no topology is known yet" : undefined
  }

  get isMember(): boolean {
    return this.#role === "member"
  }

  /** The version of the newest topology; undefined before the first. */
  get topologyVersion(): number | undefined {
    return this.#topology?.version
  }

  start(as: Role, now: MonotonicMs): void {
    const before = this.state
    this.#role = as
    this.#suspendedBecause = undefined
    this.#logChange(before, `the coordinator was started as a ${as}`, now)
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
    // Members that the topology itself no longer contains need not be kept.
    for (const [text, node] of this.#left) if (!topology.has(node)) this.#left.delete(text)
    this.#log.add({ kind: "topology-changed", version: topology.version }, now)
    this.#logChange(before, "the topology is known", now)
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

  isLeaving(node: NodeId): boolean {
    return this.#topology?.isLeaving(node) === true
  }

  /**
   * Returns the members that may host the type, and can read states of this version if one is given. As a
   * client this node is not one, even if still listed.
   */
  hosts(type: string, stateVersion?: number): readonly Candidate[] {
    const candidates = this.#topology?.candidates(type, stateVersion) ?? []
    const present = this.#left.size === 0 ? candidates : candidates.filter(({ node }) => this.hasMember(node))
    return this.isMember ? present : present.filter(({ node }) => !node.equals(this.self))
  }

  isHost(type: string): boolean {
    return this.hosts(type).some(({ node }) => node.equals(this.self))
  }

  #logChange(before: CoordinatorState, because: string, now: MonotonicMs): void {
    if (this.state !== before) this.#log.add({ kind: "became", state: this.state, because }, now)
  }
}

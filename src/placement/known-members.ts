import type { NodeId } from "../address/node-id.js"
import type { Candidate, Topology } from "./topology.js"

/**
 * The newest topology, less the members that are known to have left since. Word of a single member may come ahead of the next
 * topology; a node id is one life of a node, so what has left never comes back, and a topology that still has it is only late.
 */
export class KnownMembers {
  #topology: Topology | undefined
  /** By their text. */
  readonly #left = new Map<string, NodeId>()

  /** Undefined before the first topology. */
  get version(): number | undefined {
    return this.#topology?.version
  }

  /** False if it is no newer than what is known. */
  update(topology: Topology): boolean {
    if (this.#topology !== undefined && topology.version <= this.#topology.version) return false
    this.#topology = topology
    // What the topology has dropped by itself need not be remembered.
    for (const [text, node] of this.#left) if (!topology.has(node)) this.#left.delete(text)
    return true
  }

  left(node: NodeId): void {
    if (this.#topology?.has(node)) this.#left.set(node.toString(), node)
  }

  has(node: NodeId): boolean {
    if (this.#topology?.has(node) !== true) return false
    return this.#left.size === 0 || !this.#left.has(node.toString())
  }

  candidates(type: string): readonly Candidate[] {
    const candidates = this.#topology?.candidates(type) ?? []
    return this.#left.size === 0 ? candidates : candidates.filter(({ node }) => this.has(node))
  }
}

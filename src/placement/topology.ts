import type { NodeId } from "../address/node-id.js"

/** Who is there, at one version. Immutable: a change is another topology, with a higher version. */
export interface Topology {
  readonly version: number
  /** The active members that host the type, each once. */
  candidates(type: string): readonly Candidate[]
  /** Whether the node's record is there; it may be leaving, or out of reach. */
  has(node: NodeId): boolean
}

export interface Candidate {
  readonly node: NodeId
  /** How many actors it runs, as it was last heard to say. */
  readonly load?: number
}

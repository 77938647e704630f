import type { NodeId } from "../address/node-id.js"

/** A member as a strategy sees it. */
export interface SplitBrainMember {
  /** The id of the node. */
  readonly node: NodeId
  /** The roles from the settings of the node. */
  readonly roles: readonly string[]
  /** The position in the order in which members came up: lower is older. */
  readonly age: number
  /** The state of the member. */
  readonly status: "up" | "leaving" | "exiting"
}

/** The cluster as one node sees it, when some members have been unreachable for a while. */
export interface SplitBrainSituation {
  /** The node that decides. */
  readonly self: NodeId
  /** The members, unreachable ones included. */
  readonly members: readonly SplitBrainMember[]
  /** The nodes that are joining, which do not count for a side. */
  readonly joining: readonly { readonly node: NodeId; readonly roles: readonly string[] }[]
  /** The texts of the ids of members and joining nodes that are unreachable. */
  readonly unreachable: ReadonlySet<string>
}

/** Whether the reachable side goes on and declares the others down, or this node shuts itself down. */
export interface SplitBrainDecision {
  /** True if the reachable side survives and the unreachable nodes are declared down. */
  readonly survive: boolean
  /** The reason, for logs. */
  readonly because: string
}

/** Decides which side of a partition survives. Every node decides for itself, so it must not be random. */
export type SplitBrainStrategy = (situation: SplitBrainSituation) => SplitBrainDecision

/** The side with more than half of the members survives; of two halves the one with the lowest address. */
export function keepMajority(_options: { readonly role?: string } = {}): SplitBrainStrategy {
  return () => ({ survive: false, because: "" })
}

/** A side with at least `size` members survives; `size` must be more than half of the cluster. */
export function staticQuorum(_options: {
  readonly size: number
  readonly role?: string
}): SplitBrainStrategy {
  return () => ({ survive: false, because: "" })
}

/** The side with the oldest member survives. */
export function keepOldest(
  _options: { readonly role?: string; readonly downIfAlone?: boolean } = {},
): SplitBrainStrategy {
  return () => ({ survive: false, because: "" })
}

/** No side survives. */
export function downAll(): SplitBrainStrategy {
  return () => ({ survive: false, because: "" })
}

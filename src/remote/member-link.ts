import type { NodeId } from "../address/node-id.js"

/**
 * The membership of this node, as far as connections concern it. What it says travels in frames of its own,
 * which are never queued: a message of membership is out of date when the connection is back.
 */
export interface MemberLink {
  /** Whether the cluster has removed that incarnation of a node, so that its handshakes are refused. */
  isRemoved(node: NodeId): boolean
  /** A peer says something, which is not trusted to be well-formed. */
  received(from: NodeId, payload: Buffer): void
  connected(node: NodeId): void
  lost(node: NodeId): void
  /** The node at that address refuses this incarnation, because the cluster has removed it. */
  ousted(by: string): void
}

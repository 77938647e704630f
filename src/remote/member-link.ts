import type { NodeId } from "../address/node-id.js"
import type { DisconnectReason } from "./disconnect-reason.js"

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
  lost(node: NodeId, because: DisconnectReason): void
  /** A dial to that address has failed. */
  unreached(authority: string, because: DisconnectReason): void
  /** Nobody listens at that address: its host is there, and refuses connections. */
  absent(authority: string): void
  /** The node at that address, which is proven, refuses this incarnation as removed. */
  ousted(by: string): void
}

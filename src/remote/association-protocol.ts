import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { DisconnectReason } from "./disconnect-reason.js"

export interface AssociationTerms {
  /** Limits of messages that wait for one authority that is not connected, and for all of them together. */
  readonly perAuthority: number
  readonly total: number
  /** Limit of bytes that wait for one authority. */
  readonly bytes: number
  /** What to drop when the limit of bytes is reached while connected: the new message, or the oldest. */
  readonly overflow: "refuse" | "drop-oldest"
  /** How long a message waits for a connection. */
  readonly deferMs: number
  readonly quarantineMs: number
  /** The shortest and the longest delay between two dials. */
  readonly fromMs: number
  readonly toMs: number
  /** How long a node must be unreachable before watchers of its actors are notified that these are gone. */
  readonly unreachableAfterMs: number
}

export type AssociationState =
  | { readonly kind: "unresolved" }
  | { readonly kind: "connected"; readonly node: NodeId }
  | {
      readonly kind: "quarantined"
      readonly node: NodeId | undefined
      readonly until: MonotonicMs
      readonly because: string
    }

export type AssociationEvent<P> =
  /** A message that could not be written at once. */
  | { readonly kind: "send"; readonly message: P }
  /** Whether an actor of this node watches an actor of the other node. */
  | { readonly kind: "watched"; readonly watched: boolean }
  /** Whether membership needs a connection, also while nothing waits to be sent. */
  | { readonly kind: "kept"; readonly isKept: boolean }
  /** The dialled connection is open; the handshake begins. */
  | { readonly kind: "dial-answered" }
  | { readonly kind: "dial-failed"; readonly because: DisconnectReason }
  /**
   * A handshake succeeded, dialled by either node; it has replaced an earlier connection, if there was one.
   */
  | { readonly kind: "established"; readonly node: NodeId }
  | { readonly kind: "dropped"; readonly because: DisconnectReason }
  /** The peer violated the protocol, or its proof was wrong. */
  | { readonly kind: "violated"; readonly node: NodeId | undefined; readonly because: string }
  /** Requested by an operator, or because the member was downed. */
  | { readonly kind: "quarantine-requested"; readonly because: string }
  | { readonly kind: "quarantine-lifted" }
  /** This node continues as a new incarnation. */
  | { readonly kind: "reincarnated" }
  /** The other node was seen to be alive by other means than a connection, such as a renewed lease. */
  | { readonly kind: "alive" }
  | { readonly kind: "tick" }

/** Why a message was refused; every reason means `not-delivered`. */
export type MessageRefusal = "deferred-full" | "outbound-full" | "quarantined" | "unreachable"

export type AssociationCommand<P> =
  | { readonly kind: "dial" }
  | { readonly kind: "abandon-dial" }
  | { readonly kind: "close"; readonly because: DisconnectReason }
  | { readonly kind: "refuse"; readonly messages: readonly P[]; readonly because: MessageRefusal }
  /** Notifies the watchers of actors on that node that these are gone. */
  | { readonly kind: "give-up-watching"; readonly because: DisconnectReason }
  /** This and the following are notifications. After `connected` the driver writes the queued messages. */
  | { readonly kind: "connected"; readonly node: NodeId }
  | { readonly kind: "lost"; readonly node: NodeId; readonly because: DisconnectReason }
  | { readonly kind: "failed"; readonly because: DisconnectReason; readonly attempts: number }
  | {
      readonly kind: "quarantined"
      readonly node: NodeId | undefined
      readonly because: string
      readonly durationMs: number
    }

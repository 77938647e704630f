import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { DisconnectReason } from "./disconnect-reason.js"

export interface AssociationTerms {
  /** Parcels that may wait for one authority that is not connected, and for all together. */
  readonly perAuthority: number
  readonly total: number
  /** Bytes that may wait for one authority. */
  readonly bytes: number
  /** What gives way when the bytes are used up while connected. */
  readonly overflow: "refuse" | "drop-oldest"
  /** How long a parcel waits for a connection. */
  readonly deferMs: number
  readonly quarantineMs: number
  /** The wait between two dials. */
  readonly fromMs: number
  readonly toMs: number
  /** How long a node is out of reach before those who watch its actors are told that these are gone. */
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
  /** A parcel that could not be written at once. */
  | { readonly kind: "send"; readonly parcel: P }
  /** Whether anybody here watches an actor there. */
  | { readonly kind: "watched"; readonly watched: boolean }
  /** The connection that was dialled is there; the handshake begins. */
  | { readonly kind: "dial-answered" }
  | { readonly kind: "dial-failed"; readonly because: DisconnectReason }
  /**
   * A handshake succeeded, whoever dialled; an earlier connection, if there is one, has been given up for it.
   */
  | { readonly kind: "established"; readonly node: NodeId }
  | { readonly kind: "dropped"; readonly because: DisconnectReason }
  /** The peer broke the protocol, or could not prove what it must. */
  | { readonly kind: "violated"; readonly node: NodeId | undefined; readonly because: string }
  /** By hand, or because the member was downed. */
  | { readonly kind: "shut-out"; readonly because: string }
  | { readonly kind: "let-in" }
  /** This node has become its next incarnation. */
  | { readonly kind: "reincarnated" }
  /** The node was seen to be alive, by whoever can see that without a connection. */
  | { readonly kind: "alive" }
  | { readonly kind: "tick" }

/** Why a parcel was refused; all of them mean `not-delivered`. */
export type ParcelRefusal = "deferred-full" | "outbound-full" | "quarantined" | "unreachable"

export type AssociationCommand<P> =
  | { readonly kind: "dial" }
  | { readonly kind: "abandon-dial" }
  /** Close the connection. */
  | { readonly kind: "hang-up"; readonly because: DisconnectReason }
  | { readonly kind: "refuse"; readonly parcels: readonly P[]; readonly because: ParcelRefusal }
  /** Whoever watches actors there is told that they are gone. */
  | { readonly kind: "give-up-watching"; readonly because: DisconnectReason }
  /** The rest is for whoever listens. After `connected`, what waits is written. */
  | { readonly kind: "connected"; readonly node: NodeId }
  | { readonly kind: "lost"; readonly node: NodeId; readonly because: DisconnectReason }
  | { readonly kind: "failed"; readonly because: DisconnectReason; readonly attempts: number }
  | {
      readonly kind: "quarantined"
      readonly node: NodeId | undefined
      readonly because: string
      readonly durationMs: number
    }

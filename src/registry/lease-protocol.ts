import type { MonotonicMs } from "../ports/clock.js"
import type { Revision } from "../ports/store.js"
import type { Instant } from "./lease-terms.js"
import type { RecordStatus } from "./node-record.js"

/** A request in flight: a renewal, or a read of its outcome. */
export interface Pending {
  readonly what: "renewal" | "look"
  readonly request: number
}

export interface Holding {
  readonly lease: Revision
  readonly record: Revision
  /** As in `KnownLease`. */
  readonly since: Instant
  readonly deadline: MonotonicMs
  readonly renewAt: MonotonicMs
  readonly pending: Pending | undefined
  /** Whether the process does not answer, so that the lease is left to lapse. */
  readonly isSilent?: boolean
}

/** What the holder of a lease knows of it, beside what it has in flight. */
export interface KnownLease {
  readonly lease: Revision
  readonly record: Revision
  /** From before the last confirmed renewal was sent. */
  readonly since: Instant
  readonly isLeaving: boolean
}

export interface LeaseSnapshot {
  readonly state: LeaseState
  readonly requests: number
}

export type LeaseState =
  | { readonly kind: "joining"; readonly request: number; readonly sentAt: Instant }
  | ({ readonly kind: "held" | "leaving" } & Holding)
  | { readonly kind: "fenced"; readonly because: string }

export type LeaseEvent =
  | { readonly kind: "joined"; readonly request: number; readonly revision: Revision }
  /** Refused, or not answered: whether there is a record of this incarnation now is not known. */
  | { readonly kind: "join-failed"; readonly request: number }
  | RenewedEvent
  /** Refused, or not answered. */
  | { readonly kind: "renewal-unsure"; readonly request: number }
  | LookedEvent
  /** The watch of the store has shown that this node's record was written or deleted. */
  | {
      readonly kind: "record-changed"
      readonly revision: Revision
      readonly status: RecordStatus | "gone"
    }
  /** A commit was refused as if this node were no member. A request in flight finds out soon enough. */
  | { readonly kind: "doubt" }
  | { readonly kind: "leave" }
  /** After `leave`: no turn is in flight, and none will begin. */
  | { readonly kind: "settled" }
  /** The node stops while turns are in flight: no other node may have the actors before the lease expires. */
  | { readonly kind: "abandoned" }
  | { readonly kind: "epoch-changed" }
  /**
   * The event loop that the actors run on has answered nothing for long, or answers again. Only a thread that
   * renews for another can tell.
   */
  | { readonly kind: "silent" }
  | { readonly kind: "heard" }
  | { readonly kind: "tick" }

/** The store has confirmed a renewal, now or long ago; `sentAt` and `announces` are those of its command. */
export interface RenewedEvent {
  readonly kind: "renewed"
  readonly request: number
  readonly lease: Revision
  readonly sentAt: Instant
  readonly announces: boolean
}

/** The revisions that lease and record are at, undefined where they are absent. */
export interface LookedEvent {
  readonly kind: "looked"
  readonly request: number
  readonly lease: Revision | undefined | "unanswered"
  readonly record: Revision | undefined | "unanswered"
  readonly status?: RecordStatus | undefined
}

export type LeaseCommand =
  /** Create record and lease in one commit, on the condition that both are absent. */
  | { readonly kind: "join"; readonly request: number }
  /**
   * Write the lease, on the conditions that lease and record are at these revisions. If it `announces`, write
   * with it that the node leaves.
   */
  | {
      readonly kind: "renew"
      readonly request: number
      readonly lease: Revision
      readonly record: Revision
      readonly announces: boolean
      /** From before it is sent. */
      readonly sentAt: Instant
      /** Without an answer by then the renewal is unsure; a later confirmation is still handled. */
      readonly withinMs: number
    }
  /** Read lease and record. */
  | { readonly kind: "look"; readonly request: number; readonly withinMs: number }
  /** Shut all doors for good. */
  | { readonly kind: "fence"; readonly because: string }
  /** Delete lease and record in one commit, on the condition that the lease is at this revision. */
  | { readonly kind: "give-up"; readonly lease: Revision }

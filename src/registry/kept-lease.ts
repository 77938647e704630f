import type { MonotonicMs, WallMs } from "../ports/clock.js"
import type { Revision } from "../ports/store.js"
import type { KnownLease, LeaseEvent } from "./lease-protocol.js"
import type { Instant } from "./lease-terms.js"

/**
 * The lease of one incarnation, as its doors see it. `LeaseKeeper` keeps it on their own event loop, and
 * `ThreadedLease` is the view of one that a thread keeps.
 */
export interface KeptLease {
  readonly state: "joining" | "held" | "leaving" | "fenced"
  /** For whoever keeps the lease next. Undefined before the join, and once it is fenced. */
  readonly known: KnownLease | undefined
  /** The revision of the node's record. Undefined as `known` is. */
  readonly record: Revision | undefined
  /** When the last renewal that was confirmed, or the join, was sent. Undefined as `known` is. */
  readonly renewedAt: MonotonicMs | undefined
  /** The last revision of the lease that was confirmed, also once it is fenced. */
  readonly lastKnown: Revision
  readonly doors: LeaseDoors
  /** Takes an event of the incarnation: all but the answers of the store. */
  handle(event: LeaseEvent): void
  /** Ends the keeping: the lease is kept elsewhere, or nowhere. Its owner hears no more of it. */
  close(): void
}

/** What the doors ask, before each turn, message, reply and save. */
export interface LeaseDoors {
  /** Whether what was begun may go on. */
  mayActAt(monotonicMs: MonotonicMs, wallMs: WallMs): boolean
}

/** Whoever has a lease kept. */
export interface LeaseOwner {
  /** Called after each event: the doors may have opened or shut. */
  leaseChanged(now: Instant): void
  /** The doors are shut for good. */
  leaseLost(because: string): void
  /** The lease is to be deleted, at this revision. */
  givesUp(lease: Revision): void
  /** The store did not answer a request. */
  storeFailed(asked: string, error: unknown): void
  /** Nothing has run on this event loop for so long. */
  loopBlocked(blockedMs: number): void
  /** An event that comes before any other one at this moment. */
  beforehand?(now: Instant): LeaseEvent | undefined
}

import type { ActorId } from "../address/actor-id.js"
import type { Revision } from "../ports/store.js"
import type { Whereabouts } from "../registry/placement-cache.js"
import type { Denial } from "./coordinator-event.js"

/*
 * What stands behind a placement coordinator. It reads the two views by itself, inside its calls; the other three are for its
 * driver, which turns commands into calls and results into events. The registry is the lock and the storage, so
 * that what is stored comes with the claim; the catalog is the executor.
 */

/** Where actors are, as far as this node has heard. It has learned from a read before the coordinator is told of that. */
export interface PlacementCacheView {
  lookup(id: ActorId): Whereabouts | undefined
}

/** What runs on this node. */
export interface CatalogView {
  /**
   * The generation of the activation of this id. One that is ending is here until it has ended, so that its successor is
   * not claimed while it may still act; what is sent to it meanwhile goes to the successor.
   */
  isHere(id: ActorId): Revision | undefined
}

export interface PlacementLock<Stored> {
  /** Never rejects: a store that does not answer is a denial, `unavailable`. */
  tryAcquire(id: ActorId): Promise<Acquisition<Stored> | Denial>
  /** Rejects if the placement may still be there. */
  release(id: ActorId, generation: Revision): Promise<void>
}

export interface Acquisition<Stored> {
  readonly kind: "acquired"
  readonly generation: Revision
  readonly stored: Stored
}

export interface ActivationStorage {
  /** Rejects if the store does not say. */
  lookUp(id: ActorId): Promise<Whereabouts>
}

export interface ActivationExecutor<Stored> {
  /** Settled when the activation is valid, or has failed and is no more. */
  ensureActivation(id: ActorId, generation: Revision, stored: Stored): Promise<void>
  /** Ends what runs under this generation, if anything does. Asked before a release. */
  endActivation(id: ActorId, generation: Revision): Promise<void>
}

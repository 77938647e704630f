import type { ActorId } from "../address/actor-id.js"
import type { Revision } from "../ports/store.js"
import type { Placed } from "../registry/placement-cache.js"
import type { Answer } from "./resolution.js"

/**
 * What the driver is to do. Each but `settle` is answered exactly once, by an event with the same request; a step that hangs
 * would keep everybody who wants this id waiting, so each has to end in its own time.
 */
export type PlacementCommand<Stored> =
  /**
   * Claim the placement, and read what is stored after that. One that names this node is taken over at the revision read: an
   * answer was lost, or a release failed, for nothing of this id runs here when this is said.
   */
  | {
      readonly kind: "try-acquire"
      readonly request: number
      readonly id: ActorId
      /** What is thought to stand there: of a node that is gone, or of this one. */
      readonly placed: Placed | undefined
    }
  /** Read the placement. */
  | { readonly kind: "look-up"; readonly request: number; readonly id: ActorId }
  | {
      readonly kind: "ensure-activation"
      readonly request: number
      readonly id: ActorId
      readonly generation: Revision
      readonly stored: Stored
    }
  /** End what runs under this generation, if anything does, and then delete the placement at this generation. */
  | {
      readonly kind: "release"
      readonly request: number
      readonly id: ActorId
      readonly generation: Revision
    }
  /** The answer for one who waits; those of one id come in the order in which they asked. */
  | { readonly kind: "settle"; readonly waiter: number; readonly answer: Answer }

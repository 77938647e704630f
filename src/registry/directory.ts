import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { Revision } from "../ports/store.js"
import type { Tenure } from "./tenure.js"

/** Which node has which actor: the registry's face to those who place actors. */
export interface Directory {
  /** Undefined where no node has it. Rejects with a `StoreUnavailableError`. */
  lookup(id: ActorId): Promise<Placement | undefined>
  /**
   * Makes this node the one that has the actor, if no other is. Where this node has it already, that is the answer, and nothing
   * is written. Never rejects.
   */
  register(id: ActorId): Promise<PlacementDecision>
  /** Ends the tenure, and then says so to all, if it is still the present one. */
  unregister(tenure: Tenure): Promise<Unregistration>
}

export interface Placement {
  readonly node: NodeId
  readonly generation: Revision
}

export type PlacementDecision =
  /** Here. `isNew` is false if it was here before. */
  | {
      readonly kind: "place-on-node"
      readonly node: NodeId
      readonly tenure: Tenure
      readonly isNew: boolean
    }
  | { readonly kind: "already-registered"; readonly placement: Placement }
  /** It was nobody's when this node began to claim it, and somebody else was faster. */
  | { readonly kind: "race"; readonly winner: Placement; readonly loser: NodeId }
  /**
   * `fenced`: this node is no member at the moment. `leaving`: it takes nothing new. `unavailable`: the store did not
   * answer, and whether this node has the actor now is not known; trying again finds out.
   */
  | { readonly kind: "refused"; readonly because: "fenced" | "leaving" | "unavailable" }

/** `changed`: somebody else has it by now. `unknown`: the store did not answer; this node is still named, perhaps, and runs none. */
export type Unregistration = "released" | "changed" | "unknown"

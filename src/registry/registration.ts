import type { NodeId } from "../address/node-id.js"
import type { Revision } from "../ports/store.js"
import type { StateRead } from "./claim.js"
import type { Tenure } from "./tenure.js"

/** The outcome of `register`: the tenure of this node, or why it has none. */
export type Registration =
  /** `state` is what the claim has read; undefined where it reads none, or this node had the actor before. */
  | { readonly kind: "acquired"; readonly tenure: Tenure; readonly state?: StateRead | undefined }
  | { readonly kind: "acquire-denied"; readonly because: Denial }

export type Denial =
  /** The actor belongs to another node, whose record is in the store. */
  | { readonly kind: "owned"; readonly node: NodeId; readonly generation: Revision }
  /**
   * `fenced`: this node is not a member at the moment. `leaving`: it takes no new actors. `unavailable`: the
   * store did not answer, and whether this node has the actor is unknown; a retry finds out.
   */
  | { readonly kind: "fenced" | "leaving" | "unavailable"; readonly detail: string }

export const FENCED = denied({ kind: "fenced", detail: "this node is not a member at the moment" })
export const LEAVING = denied({ kind: "leaving", detail: "this node takes no new actors" })
export const UNAVAILABLE = denied({ kind: "unavailable", detail: "the store did not answer" })

export function denied(because: Denial): Registration & { readonly kind: "acquire-denied" } {
  return { kind: "acquire-denied", because }
}

/**
 * The outcome of a release. `changed`: the placement has another generation by now. `unknown`: the store did
 * not answer, and the placement may still be there.
 */
export type Unregistration = "released" | "changed" | "unknown"

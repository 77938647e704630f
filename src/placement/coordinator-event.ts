import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { Revision } from "../ports/store.js"
import type { Whereabouts } from "../registry/placement-cache.js"
import type { Topology } from "./topology.js"

/** What a placement coordinator is told. */
export type CoordinatorEvent<Stored> = Circumstance | StepAnswer<Stored>

/** What happens around it. */
export type Circumstance =
  /** A client calls and hosts nothing. Also from one to the other, and after `suspend`. */
  | { readonly kind: "start"; readonly as: Role }
  /** Its place in the cluster is lost, or not there yet: nothing is resolved until the next `start`. */
  | { readonly kind: "suspend"; readonly because: string }
  | { readonly kind: "stop" }
  | { readonly kind: "topology-changed"; readonly topology: Topology }
  /** Its record is gone. */
  | { readonly kind: "member-left"; readonly node: NodeId }
  /** The catalog has ended an activation, and released it. */
  | { readonly kind: "passivated"; readonly id: ActorId; readonly generation: Revision }

export type Role = "member" | "client"

/** What became of a command. */
export type StepAnswer<Stored> =
  | {
      readonly kind: "acquired"
      readonly request: number
      readonly generation: Revision
      readonly stored: Stored
    }
  | { readonly kind: "acquire-denied"; readonly request: number; readonly because: Denial }
  | { readonly kind: "looked-up"; readonly request: number; readonly found: Whereabouts | LookUpFailure }
  | { readonly kind: "activation-ready"; readonly request: number }
  | { readonly kind: "activation-failed"; readonly request: number; readonly cause: unknown }
  | { readonly kind: "released"; readonly request: number }
  /** The placement may still be there. */
  | { readonly kind: "release-failed"; readonly request: number; readonly detail: string }

export type Denial =
  /** By a node whose record is there. */
  | { readonly kind: "owned"; readonly node: NodeId; readonly generation: Revision }
  | { readonly kind: "fenced" | "leaving" | "unavailable"; readonly detail: string }

export interface LookUpFailure {
  readonly kind: "failed"
  readonly detail: string
}

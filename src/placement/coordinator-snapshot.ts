import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Role } from "./coordinator-event.js"
import type { Stage } from "./placement-request.js"

/** `not-ready` is one that was started, and knows nothing of the cluster or has no place in it. */
export type CoordinatorState = "stopped" | "not-ready" | Role

/** What a placement coordinator knows, for people to look at. */
export interface CoordinatorSnapshot {
  readonly state: CoordinatorState
  /** Why it is not ready, where somebody said so. */
  readonly because: string | undefined
  /** The version of the newest. */
  readonly topology: number | undefined
  readonly requests: readonly {
    readonly request: number
    readonly id: ActorId
    readonly stage: Stage["kind"]
    /** What it takes is given back. */
    readonly isDoomed: boolean
    readonly waiters: number
    readonly since: MonotonicMs
  }[]
  /** Actors that were nowhere, and the nodes to which messages for them have been sent. */
  readonly authorities: readonly { readonly id: string; readonly node: NodeId }[]
  readonly counts: CoordinatorCounts
}

/** Since it was made. */
export interface CoordinatorCounts {
  /** Answers, by their kind. */
  readonly local: number
  readonly remote: number
  readonly refused: number
  /** Of these, those that somebody had to wait for. */
  readonly waited: number
  readonly activated: number
  readonly passivated: number
  /** Claims that were denied. */
  readonly denied: number
  /** Activations that failed. */
  readonly failed: number
}

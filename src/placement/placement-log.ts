import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Revision } from "../ports/store.js"
import type { Denial } from "../registry/registration.js"
import type { CoordinatorState } from "./placement-protocol.js"

/**
 * Holds the events that have not been drained, in order. Beyond the limit the oldest are dropped, and a
 * `missed` event reports their number.
 */
export class PlacementLog {
  readonly #limit: number
  readonly #isObserved: () => boolean
  #events: PlacementEvent[] = []
  #missed = 0

  constructor(limit: number, isObserved: () => boolean) {
    this.#limit = limit
    this.#isObserved = isObserved
  }

  /** Whether the events have a subscriber; otherwise they are dropped. */
  get isObserved(): boolean {
    return this.#isObserved()
  }

  add(body: EventBody, now: MonotonicMs): void {
    if (!this.isObserved) return
    // Trims at twice the limit, so that the array is not shifted at every event.
    if (this.#events.length >= 2 * this.#limit) this.#cut()
    this.#events.push({ ...body, observedAt: now })
  }

  drain(now: MonotonicMs): readonly PlacementEvent[] {
    if (this.#events.length === 0 && this.#missed === 0) return NONE
    this.#cut()
    const events = this.#events
    const missed = this.#missed
    this.#events = []
    this.#missed = 0
    return missed === 0 ? events : [{ kind: "missed", count: missed, observedAt: now }, ...events]
  }

  #cut(): void {
    const over = this.#events.length - this.#limit
    if (over <= 0) return
    this.#events.splice(0, over)
    this.#missed += over
  }
}

const NONE: readonly PlacementEvent[] = []

/** A placement event of this node, as published to subscribers. */
export class PlacementHappened {
  /** The event. */
  readonly event: PlacementEvent

  constructor(event: PlacementEvent) {
    this.event = event
  }
}

/** An event of the placement coordinator of a node, with the time at which the node observed it. */
export type PlacementEvent = EventBody & { readonly observedAt: MonotonicMs }

/** A resolve that the catalog or the cache answers is counted but is not an event, as it is too frequent. */
type EventBody =
  | { readonly kind: "became"; readonly state: CoordinatorState; readonly because: string }
  | { readonly kind: "topology-changed"; readonly version: number }
  | { readonly kind: "member-left"; readonly node: NodeId }
  | {
      readonly kind: "resolved"
      readonly id: ActorId
      readonly node: NodeId
      readonly generation: Revision | undefined
      /** The source: a claim of this node, the store, or the strategy for an actor without a placement. */
      readonly by: "claim" | "store" | "strategy"
      /** The number of callers that waited for the answer. */
      readonly waiters: number
    }
  | { readonly kind: "look-up-failed"; readonly id: ActorId; readonly detail: string }
  | { readonly kind: "lock-denied"; readonly id: ActorId; readonly because: Denial }
  | { readonly kind: "activated"; readonly id: ActorId; readonly generation: Revision }
  | {
      readonly kind: "activation-failed"
      readonly id: ActorId
      readonly generation: Revision
      readonly cause: unknown
    }
  /** The claim has read a state of a version that this node does not know; one that does gets the actor. */
  | {
      readonly kind: "later-version"
      readonly id: ActorId
      readonly generation: Revision
      readonly stateVersion: number
    }
  | { readonly kind: "released"; readonly id: ActorId; readonly generation: Revision }
  | {
      readonly kind: "release-failed"
      readonly id: ActorId
      readonly generation: Revision
      readonly detail: string
    }
  | { readonly kind: "passivated"; readonly id: ActorId; readonly generation: Revision }
  /** The cache names a node that is no longer a member. */
  | {
      readonly kind: "cache-stale"
      readonly id: ActorId
      readonly node: NodeId
      readonly generation: Revision
    }
  /** The store named a node that the cache did not know. */
  | {
      readonly kind: "cache-learned"
      readonly id: ActorId
      readonly node: NodeId
      readonly generation: Revision
    }
  /** `count` events before this one were dropped. */
  | { readonly kind: "missed"; readonly count: number }

import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Revision } from "../ports/store.js"
import type { PlacementWish } from "./resolution.js"

/** One id that is being placed, and all who wait to hear where. */
export class PlacementRequest implements PlacementWish {
  readonly number: number
  readonly id: ActorId
  readonly since: MonotonicMs
  except: NodeId[] = []
  here = false
  stage: Stage
  /** In the order in which they asked. */
  waiters: number[] = []
  /**
   * Its circumstances have changed: what is taken is given back. Who waits has been told; those who come now wait until it is over, and
   * then it is begun again for them.
   */
  isDoomed = false

  constructor(number: number, id: ActorId, stage: Stage, since: MonotonicMs) {
    this.number = number
    this.id = id
    this.stage = stage
    this.since = since
  }

  /** What one of them wishes counts for all: they are to get the same answer. */
  add(waiter: number, { here = false, except = [] }: PlacementWish): void {
    this.waiters.push(waiter)
    this.here ||= here
    this.except.push(...except)
  }

  /** Those of another request, with their wishes. */
  takeOver(request: PlacementRequest): void {
    this.here ||= request.here
    this.except.push(...request.except)
    this.waiters.push(...request.takeWaiters())
  }

  /** Whoever comes after this has wishes of their own. */
  takeWaiters(): readonly number[] {
    const waiters = this.waiters
    this.waiters = []
    this.here = false
    this.except = []
    return waiters
  }
}

export type Stage =
  /** Until the store has said that it is nowhere, `authority` would get it. */
  | { readonly kind: "looking-up"; readonly authority: NodeId }
  | { readonly kind: "acquiring" }
  | { readonly kind: "activating"; readonly generation: Revision }
  /** Nobody is to hear of the outcome. */
  | { readonly kind: "releasing"; readonly generation: Revision }
  /** A placement that names this node, which does not host the type: once it is gone, others may have it. */
  | { readonly kind: "clearing"; readonly generation: Revision }

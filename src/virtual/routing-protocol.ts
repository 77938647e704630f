import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Whereabouts } from "../registry/placement-cache.js"

// The events and commands of `call-routing.ts`.

/** One call with its routing state. */
export class RoutedCall<C extends RoutableCall> {
  readonly call: C
  /** The time from which the call's timeout counts. */
  readonly since: MonotonicMs
  sentTo: NodeId | undefined = undefined
  /** The call came back before: the receiver accepts it although it refused the calls before it. */
  isResent = false
  /** The call was queued, so part of its timeout has passed. */
  hasWaited = false
  /** The number of retries that were not forwards; the pause before the next retry grows with it. */
  attempts = 0
  /** The number of consecutive receivers that answered with another node. */
  forwards = 0
  /** The nodes that have refused the call. */
  refusedBy: readonly NodeId[] = NO_NODES

  constructor(call: C, since: MonotonicMs) {
    this.call = call
    this.since = since
  }

  /** Whether the timeout has passed. The deadline timer is coarser, and may not have fired yet. */
  isLate(now: MonotonicMs): boolean {
    return now - this.since >= this.call.callTimeoutMs
  }

  timeLeftMs(now: MonotonicMs): number {
    return Math.max(1, this.call.callTimeoutMs - (now - this.since))
  }
}

/** A call, as far as routing is concerned. */
export interface RoutableCall {
  /** The sequence number of the call among all calls of this node. */
  readonly order: number
  readonly callTimeoutMs: number
  readonly isOver: boolean
  /**
   * Whether the call may leave its maker: `waits` while it is undecided whether the maker may still act,
   * `shut` once the maker was superseded.
   */
  readonly exit: "open" | "waits" | "shut"
}

export interface RoutingLimits {
  /** The maximum number of queued calls. */
  readonly capacity: number
  /** The number of times that a call follows a receiver to another node before it pauses. */
  readonly maxForwards: number
}

/** The connections, as far as routing is concerned. */
export interface ConnectionView<C> {
  /** `queued`: the call has not left this node. A node: the call was sent to it and is not answered. */
  placeOf(call: C, sentTo: NodeId): NodeId | "queued" | "unknown"
}

export interface ReturnedFrom {
  readonly isReleasing: boolean
  readonly isUnused: boolean
}

export type RoutingState = "resolving" | "paused" | "held" | "draining" | "open" | "settling" | "over"

/** The result of a `resolve`: where the actor is or should be. */
export type RoutingAnswer =
  | { readonly kind: "here" }
  | { readonly kind: "node"; readonly node: NodeId }
  /** The actor cannot be resolved at the moment. */
  | { readonly kind: "blocked" }
  | {
      readonly kind: "refused"
      /** Undefined if a retry may succeed. */
      readonly error: Error | undefined
      /** Whether the type ever had a host, if no member hosts it. `not-awaited`: this node is leaving. */
      readonly hosts: "never-seen" | "were-seen" | "not-awaited"
    }

export type Commands<C extends RoutableCall> = readonly RoutingCommand<C>[]

export type RoutingCommand<C extends RoutableCall> =
  | { readonly kind: "resolve"; readonly request: number; readonly excluded: readonly NodeId[] }
  /** Sends the call; confirmed by `sent`. */
  | { readonly kind: "send"; readonly routed: RoutedCall<C>; readonly node: NodeId }
  /** Delivers the call to the activation of this node. */
  | { readonly kind: "deliver"; readonly routed: RoutedCall<C> }
  /** Takes the call back from the queue of the connection. */
  | { readonly kind: "recall"; readonly routed: RoutedCall<C>; readonly node: NodeId }
  | {
      readonly kind: "fail"
      readonly routed: RoutedCall<C>
      readonly because: RoutingFailure
      readonly error?: Error
    }
  /** Pauses until a `tick`. */
  | { readonly kind: "wait"; readonly ms: number }
  /** Waits until the call may leave its maker, or never may again; ended by `released`. */
  | { readonly kind: "hold"; readonly routed: RoutedCall<C> }
  /** Caches the placement that another node has returned; `isShard`: that of the actor's shard. */
  | {
      readonly kind: "learn"
      readonly epoch: string
      readonly where: Whereabouts
      readonly isShard: boolean
    }
  /** Removes the actor from the placement cache, as the cached placement proved wrong. */
  | { readonly kind: "forget" }
  /** Ends the routing, as no call is left. */
  | { readonly kind: "over" }

type RoutingFailure =
  | "queue-full"
  | "late"
  | "superseded"
  | "node-gone"
  | "stopped"
  /** The call fails with the error of the answer. */
  | "refused"

const NO_NODES: readonly NodeId[] = []

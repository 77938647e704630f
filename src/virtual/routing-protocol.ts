import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Whereabouts } from "../registry/placement-cache.js"

// What `call-routing.ts` and its driver tell each other.

/** One call, and what routing knows of it. */
export class RoutedCall<C extends RoutableCall> {
  readonly call: C
  /** Since when its time counts. */
  readonly since: MonotonicMs
  sentTo: NodeId | undefined = undefined
  /** It came back once: the receiver takes it although it refused the calls before it. */
  isResent = false
  /** It was queued, so that part of its time has passed. */
  hasWaited = false
  /** How often it was retried, apart from being forwarded: the pause before the next time grows with it. */
  attempts = 0
  /** How often in a row a node that was asked has named another one. */
  forwards = 0
  /** The nodes that would not take it. */
  refusedBy: readonly NodeId[] = NOBODY

  constructor(call: C, since: MonotonicMs) {
    this.call = call
    this.since = since
  }

  /** Its deadline, which is coarser than the clock, may not have come yet. */
  isLate(now: MonotonicMs): boolean {
    return now - this.since >= this.call.callTimeoutMs
  }

  timeLeftMs(now: MonotonicMs): number {
    return Math.max(1, this.call.callTimeoutMs - (now - this.since))
  }
}

/** What routing has to know of a call. */
export interface RoutableCall {
  /** Its place among all calls of this node. */
  readonly order: number
  readonly callTimeoutMs: number
  readonly isOver: boolean
  /**
   * Whether it may leave its maker: `waits` while the maker's lease is undecided, `shut` once the maker was
   * overtaken.
   */
  readonly exit: "open" | "waits" | "shut"
}

export interface RoutingLimits {
  /** How many calls may be queued. */
  readonly capacity: number
  /** How often a call follows the nodes that name another one before it pauses. */
  readonly maxForwards: number
}

/** Where a call in flight to a node is. */
export interface ConnectionView<C> {
  /** `queued`: it has not left. A node: that one has it, and has yet to answer. */
  placeOf(call: C, sentTo: NodeId): NodeId | "queued" | "unknown"
}

export interface ReturnedFrom {
  readonly isReleasing: boolean
  readonly isUnused: boolean
}

export type RoutingState = "resolving" | "paused" | "held" | "draining" | "open" | "settling" | "over"

/** Where the actor is, or is to be. */
export type RoutingAnswer =
  | { readonly kind: "here" }
  | { readonly kind: "node"; readonly node: NodeId }
  /** Nobody can say for now. */
  | { readonly kind: "blocked" }
  | {
      readonly kind: "refused"
      /** Undefined where the next attempt may succeed. */
      readonly error: Error | undefined
      /** Of hosts of the type, should the error be that there is none. `not-awaited`: this node leaves. */
      readonly hosts: "never-seen" | "were-seen" | "not-awaited"
    }

export type Commands<C extends RoutableCall> = readonly RoutingCommand<C>[]

export type RoutingCommand<C extends RoutableCall> =
  | { readonly kind: "resolve"; readonly request: number; readonly excluded: readonly NodeId[] }
  /** To be confirmed by `sent`. */
  | { readonly kind: "send"; readonly routed: RoutedCall<C>; readonly node: NodeId }
  /** To the activation of this node. */
  | { readonly kind: "deliver"; readonly routed: RoutedCall<C> }
  /** Out of the queue in front of the connection. */
  | { readonly kind: "recall"; readonly routed: RoutedCall<C>; readonly node: NodeId }
  | {
      readonly kind: "fail"
      readonly routed: RoutedCall<C>
      readonly because: RoutingFailure
      readonly error?: Error
    }
  /** For a `tick`. */
  | { readonly kind: "wait"; readonly ms: number }
  /** Until the call may leave its maker, or never may again; for `released`. */
  | { readonly kind: "hold"; readonly routed: RoutedCall<C> }
  /** Another node has said where the store has the actor. */
  | { readonly kind: "learn"; readonly epoch: string; readonly where: Whereabouts }
  /** What is cached of the actor has proved useless. */
  | { readonly kind: "forget" }
  /** Nothing is left to do. */
  | { readonly kind: "over" }

type RoutingFailure =
  | "queue-full"
  | "late"
  | "overtaken"
  | "node-gone"
  | "stopped"
  /** With the error of the answer. */
  | "refused"

const NOBODY: readonly NodeId[] = []

import type { RecordStatus } from "../../src/registry/node-record.js"
import type { Method } from "./asked.js"
import type { CallLeft, Maker } from "./call-makers.js"

/** What happens, as far as invariants care. Ids are `type/key`, nodes the texts of their ids. */
export type ClusterEvent =
  | Made
  | Ended
  | TurnBegan
  | TurnEnded
  | Door
  | CallLeft
  | Loaded
  | Acked
  | NotDone
  | Learned
  | Stopped
  | Cached
  | CacheDropped
  | Claimed
  | Wrote
  | SaveRefused
  | Membership
  | Renewed
  | Left
  | Became
  | CatalogSeen
  | Judged

/** A call is about to be made. */
export interface Made {
  readonly kind: "made"
  readonly op: number
  readonly id: string
  readonly method: Method
  readonly isOneWay: boolean
  /** The system that it is made on. */
  readonly host: string
  readonly timeoutMs: number
  /** It may run out of time, or be cancelled, by what it asks for itself. */
  readonly isImpatient: boolean
  /** It would wait for itself. */
  readonly isCycle: boolean
  /** The call that keeps the actor from it, if that has made one before. */
  readonly waitsBehind: number | undefined
  /** An activation makes it, and may have ended before the call has left. */
  readonly isUnawaited: boolean
}

/** A call has ended; or a one-way message is known to come to nothing. */
export interface Ended {
  readonly kind: "ended"
  readonly op: number
  readonly outcome: Outcome
  /** By the clock of its node. */
  readonly tookMs: number
}

export type Outcome =
  | { readonly kind: "answered"; readonly op: number }
  | {
      readonly kind: "failed"
      readonly code: string
      readonly delivery: "not-delivered" | "unknown" | undefined
      readonly message: string
    }

/** `writer`: alone. `reader`: with readers. `between`: with anything. */
export type Overlap = "writer" | "reader" | "between"

export interface TurnBegan {
  readonly kind: "turn"
  /** The activation: no two of a run have the same. */
  readonly by: string
  readonly id: string
  readonly generation: number
  readonly overlap: Overlap
  /** Undefined for a timer's. */
  readonly op: number | undefined
  readonly sender: string
  readonly seq: number
  /** The activation that made the call, if one did. */
  readonly maker: Maker | undefined
  /** The call was made on the same system. */
  readonly isNear: boolean
  /** How many operations the activation has in memory. */
  readonly memory: number
  /** Whether the catalog has this activation. */
  readonly isListed: boolean
  /** Other activations of the actor with the same token whose code runs. */
  readonly rivals: readonly string[]
}

export interface TurnEnded {
  readonly kind: "turn-ended"
  readonly by: string
  readonly overlap: Overlap
}

/** A door was asked, and let something through. */
export interface Door {
  readonly kind: "door"
  readonly what: "start" | "turn" | "message" | "reply" | "save"
  readonly id: string
  readonly generation: number
  /** True time of the clock reading that it was decided by. */
  readonly atMs: number
  /** The wall clock of its machine was set back in this life of its process. */
  readonly wasSetBack: boolean
  /** A turn that runs waits for this one. */
  readonly isAwaited?: boolean | undefined
}

/** An activation has read its state. */
export interface Loaded {
  readonly kind: "loaded"
  readonly id: string
  readonly generation: number
  readonly by: string
  readonly ops: readonly number[]
  /** Other activations of the actor with the same token whose code runs. */
  readonly rivals: readonly string[]
}

/** A save was said to have been made. */
export interface Acked {
  readonly kind: "acked"
  readonly id: string
  readonly op: number
}

/** It was said that an operation was not done, and never will be. */
export interface NotDone {
  readonly kind: "not-done"
  readonly op: number
  readonly because: string
}

/** A node has learned this of itself: from the watch, or because it does so itself. */
export interface Learned {
  readonly kind: "learned"
  readonly node: string
  readonly status: "leaving" | "down" | "gone"
  readonly atMs: number
}

/** A node is fenced, or has stopped: it renews no more. */
export interface Stopped {
  readonly kind: "stopped"
  readonly node: string
}

/** What the cache of a system says after it was told something. */
export interface Cached {
  readonly kind: "cached"
  readonly who: string
  readonly id: string
  readonly revision: number
}

/** The cache of a system may know less from now on: of one actor, or of all. */
export interface CacheDropped {
  readonly kind: "cache-dropped"
  readonly who: string
  readonly id?: string
}

/** A placement was committed. */
export interface Claimed {
  readonly kind: "claimed"
  readonly id: string
  readonly node: string
  readonly generation: number
  /** Of the node, at that moment. */
  readonly status: RecordStatus | "gone"
}

/** A state was committed. */
export interface Wrote {
  readonly kind: "wrote"
  readonly id: string
  readonly generation: number
  /** The generation of the placement, as the store has it at that moment; undefined if it has none. */
  readonly placedAt: number | undefined
  readonly bytes: Uint8Array
}

/** A save of an actor in a shard was refused: the shard has another generation by now. */
export interface SaveRefused {
  readonly kind: "save-refused"
  readonly id: string
  readonly generation: number
  /** Of the same node, which has claimed the shard again. */
  readonly isOwn: boolean
  /** Its node has given up on it. */
  readonly isLate: boolean
}

/** The record or the lease of a node was written or deleted. */
export interface Membership {
  readonly kind: "membership"
  readonly node: string
  readonly hasRecord: boolean
  readonly hasLease: boolean
}

/** A lease was committed that had been there. */
export interface Renewed {
  readonly kind: "renewed"
  readonly node: string
  readonly status: RecordStatus | "gone"
  /** Its process has died. */
  readonly isOrphan: boolean
}

/** A node has left as planned where no fault is on. */
export interface Left {
  readonly kind: "left"
  readonly node: string
}

/** An activation has got a step further in its life, as its node tells it. */
export interface Became {
  readonly kind: "became"
  readonly host: string
  readonly id: string
  readonly generation: number
  readonly state: string
}

/** What a catalog has in a moment in which nothing is left to tell of it. */
export interface CatalogSeen {
  readonly kind: "catalog"
  readonly host: string
  readonly entries: readonly { readonly id: string; readonly generation: number; readonly state: string }[]
}

/** The run is over, and all has had its time. */
export interface Judged {
  readonly kind: "judged"
  /** The systems that run. */
  readonly hosts: ReadonlySet<string>
}

import type { CallLeft, Maker } from "../call-makers.js"
import type { Method } from "./asked.js"

/** What happens, as far as invariants care. Ids are `type/key`. */
export type ActivationEvent =
  | Made
  | Ended
  | TurnBegan
  | TurnEnded
  | Door
  | CallLeft
  | Acked
  | Claimed
  | Wrote
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
}

export interface TurnEnded {
  readonly kind: "turn-ended"
  readonly by: string
  readonly overlap: Overlap
}

/** Something got through a door of an activation in this step. */
export interface Door {
  readonly kind: "door"
  readonly what: "turn" | "message" | "reply" | "save"
  readonly id: string
  readonly generation: number
  /** The latest generation in the moment in which it was asked, where that was in an earlier step. */
  readonly latest?: number
}

/** A save was said to have been made. */
export interface Acked {
  readonly kind: "acked"
  readonly id: string
  readonly op: number
}

/** A placement was committed. */
export interface Claimed {
  readonly kind: "claimed"
  readonly id: string
  readonly node: string
  readonly generation: number
}

/** A state was committed. */
export interface Wrote {
  readonly kind: "wrote"
  readonly id: string
  readonly generation: number
  readonly ops: readonly number[]
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

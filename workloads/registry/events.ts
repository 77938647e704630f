import type { RecordStatus } from "../../src/registry/node-record.js"

/** What the nodes do and what the store commits, as far as invariants care. Ids are `type/key`, nodes the texts of their ids. */
export type RegistryEvent =
  | Door
  | Loaded
  | Acked
  | NotDone
  | Told
  | Stopped
  | Cached
  | CacheCleared
  | Claimed
  | Wrote
  | Membership
  | Renewed
  | Left
  | Kept

/** A door was asked, and let through. */
export interface Door {
  readonly kind: "door"
  readonly what: "turn" | "message" | "reply" | "save"
  readonly id: string
  readonly generation: number
  /** The incarnation of the node that it is on. */
  readonly incarnation: string
  /** True time of the reading of the clock that it was decided by. */
  readonly atMs: number
  /** The wall clock of its machine was set back, in this life of its node. */
  readonly wasSetBack: boolean
  /** What the activation has in memory. */
  readonly memory: readonly number[] | undefined
}

/** An activation has read its state. */
export interface Loaded {
  readonly kind: "loaded"
  readonly id: string
  readonly generation: number
  readonly by: string
  readonly ops: readonly number[]
}

/** A save was said to have been made. */
export interface Acked {
  readonly kind: "acked"
  readonly id: string
  readonly op: number
  readonly atMs: number
}

/** It was said that an operation was not done, and never will be. */
export interface NotDone {
  readonly kind: "not-done"
  readonly op: number
  readonly because: string
}

/** A node was told about itself: by the watch, or because it does so itself. */
export interface Told {
  readonly kind: "told"
  readonly incarnation: string
  readonly status: "leaving" | "down" | "gone"
  readonly atMs: number
}

/** A node is fenced: it renews no more. */
export interface Stopped {
  readonly kind: "stopped"
  readonly incarnation: string
}

/** What a node's cache says after it was told something. */
export interface Cached {
  readonly kind: "cached"
  readonly who: string
  readonly id: string
  readonly revision: number
}

/** Something was told to a node after which its cache may know less. */
export interface CacheCleared {
  readonly kind: "cache-cleared"
  readonly who: string
}

/** A placement was committed. */
export interface Claimed {
  readonly kind: "claimed"
  readonly id: string
  readonly node: string
  readonly generation: number
  /** Of the node, in that moment. */
  readonly status: RecordStatus | "gone"
}

/** A state was committed. */
export interface Wrote {
  readonly kind: "wrote"
  readonly id: string
  readonly generation: number
  readonly by: string
  readonly ops: readonly number[]
  /** The latest that was claimed by then. */
  readonly latest: number
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

/** A node has left as planned where nothing goes wrong. */
export interface Left {
  readonly kind: "left"
  readonly node: string
}

/** What the store has in the end. */
export interface Kept {
  readonly kind: "kept"
  readonly id: string
  readonly ops: readonly number[]
}

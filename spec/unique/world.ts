import type { SaveSnapshot } from "../../src/registry/save.js"
import type { Condition, Mutable, Stored } from "../registry-code/world.js"

/** A state of the model: the store, the activation of each actor, and the commits in flight. */
export interface World {
  /** In the order of the keys. */
  store: Stored[]
  /** By actor; null once an activation has ended, until the next one has claimed the actor. */
  activations: (Activation | null)[]
  /** In the order of their texts. */
  requests: Request[]
  /** The ids of writes that are in flight, and whose turns were told that they are rejected. */
  rejected: string[]
  left: Left
}

export interface Activation {
  /** The revision of the placement. */
  generation: number
  /** The revision of the state that it last read or wrote; 0 for none. */
  base: number
  /** In memory: what is stored while no commit is in flight. */
  value: Value
  /** What the head says, in hexadecimal. */
  indexed: string
  /** The number of its writes. */
  writes: number
  save: Saving | undefined
  /** Whether a turn has run on what the commit in flight decides; where a bug lets it. */
  isBehind: boolean
}

export interface Saving {
  writeId: string
  snapshot: Mutable<SaveSnapshot>
  todo: "write" | "write-again" | "read" | "nothing"
  /** What the turn has decided. */
  value: Value
  indexed: string
  writes: Change[]
  guards: string[]
  /** The state as it was read last. */
  seen: string
}

/** The value in the unique index; empty for none. */
export type Value = "" | "a" | "b"

export interface Change {
  key: string
  value: string | undefined
}

/** The state as it is stored. */
export interface StateText {
  writeId: string
  value: Value
  indexed: string
}

/** A commit in flight. */
export interface Request {
  actor: number
  writeId: string
  isAwaited: boolean
  conditions: Mutable<Condition>[]
  writes: Change[]
  /** The keys among the conditions that only guard. */
  guards: string[]
}

/** How often each event may still happen. */
export type Left = Record<Limit, number>

export type Limit =
  | "turns"
  /** A commit that is not answered. */
  | "losses"
  /** The actor is claimed by another node, or again after its activation has ended. */
  | "moves"

export function placementKey(actor: number): string {
  return `placements/${actor}`
}

export function stateKey(actor: number): string {
  return `state/${actor}`
}

export function stateIn({ store }: Pick<World, "store">, actor: number): StateText & { revision: number } {
  const entry = store.find(({ key }) => key === stateKey(actor))
  if (entry === undefined) return { writeId: "", value: "", indexed: "", revision: 0 }
  return { ...(JSON.parse(entry.value) as StateText), revision: entry.revision }
}

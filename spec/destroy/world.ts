import type { DestructionState, RemovalSnapshot } from "../../src/registry/destroy.js"
import type { SaveSnapshot } from "../../src/registry/save.js"
import type { Condition, Mutable, Stored } from "../registry-code/world.js"

/** A state of the model: the store, the activation that runs, and the commits in flight. */
export interface World {
  /** In the order of the keys. */
  store: Stored[]
  /** Undefined once it has ended in order, until the next one begins. */
  activation: Activation | undefined
  /** In the order of their texts. */
  requests: Request[]
  /** The number of lives that were begun. */
  lives: number
  /** The last life that was destroyed, as the store has it; 0 for none. */
  destroyed: number
  /** Whether nothing has to be remembered any more, as time has passed. */
  isForgotten: boolean
  left: Left
}

export interface Activation {
  generation: number
  /** The revision of the state that it last read or wrote; 0 for none. */
  base: number
  /** The state as it last read or wrote it. */
  head: Head
  /** That of its destruction; undefined before that. */
  destruction: DestructionState | undefined
  save: Saving | undefined
  removal: Mutable<RemovalSnapshot> | undefined
}

/** A state as it is stored. */
export interface Head {
  writeId: string
  kind: "none" | "alive" | "dying" | "destroyed"
  /** The generation under which it was destroyed. */
  generation: number
  /** The life that it is of, or that was destroyed. */
  life: number
  /** The numbers of its satellites. */
  rows: number[]
  /** Whether it remembers the operation by which the first life was created. */
  remembers: boolean
}

export interface Saving {
  head: Head
  put: number[]
  deleted: number[]
  snapshot: Mutable<SaveSnapshot>
  todo: "write" | "read" | "nothing"
}

/** A commit in flight. */
export interface Request {
  isAwaited: boolean
  isRemoval: boolean
  conditions: Mutable<Condition>[]
  writes: { key: string; value: string | undefined }[]
}

export type Left = Record<Limit, number>

export type Limit =
  /** A commit that is not answered, and arrives at any later time. */
  | "losses"
  | "saves"
  | "destroys"
  /** The actor is claimed by another node, whatever its activation does. */
  | "moves"
  /** An activation ends in order. */
  | "ends"
  /** What is remembered is old enough to be forgotten. */
  | "forgets"

/** The placement, or the record of the shard. */
export const PLACED = "placements/a"
export const STATE = "state/a"
const KIN = "kin/a/r/"
/** Keeps the highest revision that was given, also after its key was deleted. */
const CLOCK = "clock"

export function rowKey(number: number): string {
  return `${KIN}${number}`
}

export const NO_HEAD: Head = { writeId: "", kind: "none", generation: 0, life: 0, rows: [], remembers: false }

export function headIn({ store }: Pick<World, "store">): Head & { readonly revision: number } {
  const entry = store.find(({ key }) => key === STATE)
  return entry === undefined
    ? { ...NO_HEAD, revision: 0 }
    : { ...(JSON.parse(entry.value) as Head), revision: entry.revision }
}

/** The lives whose satellites are in the store. */
export function rowLives({ store }: Pick<World, "store">): readonly number[] {
  return store.filter(({ key }) => key.startsWith(KIN)).map(({ value }) => Number(value))
}

export function tick(world: World, revision: number): void {
  world.store = world.store.filter(({ key }) => key !== CLOCK)
  world.store.unshift({ key: CLOCK, revision, value: "" })
}

export function generationIn({ store }: Pick<World, "store">): number {
  return store.find(({ key }) => key === PLACED)?.revision ?? 0
}

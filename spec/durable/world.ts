import type { SaveSnapshot } from "../../src/registry/save.js"
import type { NumberedOperation } from "../../src/virtual/operation.js"
import type { Condition, Mutable, Stored } from "../registry-code/world.js"

/**
 * A state of the model: the store, the process that calls, the activation that runs, and what is in flight.
 * Operations are known by their index, which no decision sees.
 */
export interface World {
  /** In the order of the keys. */
  store: Stored[]
  calls: Call[]
  /** What the caller's ledger was told: numbers that were opened, and negative ones that were closed. */
  ledger: number[]
  /** In the order of their texts. */
  attempts: Attempt[]
  answers: Answer[]
  requests: Request[]
  /** Undefined once it has ended, until the next one has claimed the actor. */
  activation: Activation | undefined
  /** What the actor has said of operations that are stored. No step depends on it. */
  said: Record<number, Said>
  left: Left
}

export interface Call {
  /** `unknown`: its time is up. */
  phase: "idle" | "waiting" | "answered" | "threw" | "unknown"
  /** 0 for a named operation. */
  number: number
  /** How often it was attempted. */
  attempts: number
}

/** An attempt in flight: it arrives at any time, or never. */
export interface Attempt {
  of: number
  attempt: number
  isRepeat: boolean
  /** Of a numbered operation, as the ledger made it. */
  operation: Mutable<NumberedOperation> | undefined
}

export interface Said {
  isError: boolean
  /** The number of operations that were applied before it, and itself. */
  value: number
}

export interface Answer extends Said {
  of: number
  attempt: number
}

export interface Activation {
  /** The revision of the placement. */
  generation: number
  /** The revision of the state that it last read or wrote; 0 for none. */
  base: number
  /** The state in memory: the operations that were applied, in their order. */
  applied: number[]
  /** What it remembers of numbered operations, in hexadecimal; empty for nothing. */
  memory: string
  /** What was last written of it; kept where a bug uses it. */
  memoryBefore: string
  /** The rows of named operations that turns have decided and no commit has stored. */
  undecided: Record<number, Said>
  /** The named operations that it takes to have no row; kept where a bug uses it. */
  unseen: number[]
  /** What its gate was told since it was open last: the gate is made from it in each step. */
  gate: GateCall[]
  save: Saving | undefined
}

export type GateCall =
  | { kind: "turn"; turn: DecidedTurn }
  | { kind: "held"; answer: Held }
  | { kind: "sent" }
  | { kind: "committed" }

/** What a turn contributes. */
export interface DecidedTurn {
  applied: number[]
  /** What was remembered before the turn. */
  memory: string
  row: { of: number; said: Said; isGuarded: boolean } | undefined
}

export interface Held extends Answer {
  /** The number of operations that the state had which it shows. */
  shows: number
  /** Whether it tells what was decided by a turn that has to be stored. */
  isStored: boolean
}

export interface Saving {
  writeId: string
  snapshot: Mutable<SaveSnapshot>
  todo: "write" | "read" | "nothing"
  state: StateText
  rows: { of: number; said: Said; isGuarded: boolean }[]
}

/** The state as it is stored. */
export interface StateText {
  writeId: string
  applied: number[]
  memory: string
}

/** A commit in flight. */
export interface Request {
  isAwaited: boolean
  conditions: Mutable<Condition>[]
  writes: { key: string; value: string | undefined }[]
}

/** How often each event may still happen. */
export type Left = Record<Limit, number>

export type Limit =
  /** A commit or a read that is not answered. */
  | "losses"
  /** A call whose outcome is unknown is attempted again. */
  | "repeats"
  /** The time of a call is up, and its number is closed. */
  | "giveUps"
  | "throws"
  /** The actor is claimed by another node, or again after its activation has ended. */
  | "moves"

export const PLACEMENT = "placements/a"
export const STATE = "state/a"
export const CALLER = "00000000000000c1"

export function rowKey(of: number): string {
  return `kin/a/o/${of}`
}

export function stateIn({ store }: Pick<World, "store">): StateText & { revision: number } {
  const entry = store.find(({ key }) => key === STATE)
  if (entry === undefined) return { writeId: "", applied: [], memory: "", revision: 0 }
  return { ...(JSON.parse(entry.value) as StateText), revision: entry.revision }
}

export function rowIn({ store }: Pick<World, "store">, of: number): Said | undefined {
  const entry = store.find(({ key }) => key === rowKey(of))
  return entry === undefined ? undefined : (JSON.parse(entry.value) as Said)
}

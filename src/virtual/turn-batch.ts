import type { Write } from "../ports/store.js"
import type { SatelliteChanges } from "../registry/commits.js"
import type { LifeEnd } from "../registry/stored-state.js"
import type { IndexChange } from "./index-entries.js"
import type { Message } from "./message.js"
import type { Turn } from "./turn.js"

/** What waits for a commit. */
export interface Held {
  release(): void
  lose(): void
  /** The commit was rejected, and the activation goes on. */
  reject(error: Error): void
}

export class HeldAnswer implements Held {
  readonly #turn: Turn
  readonly #given: unknown

  constructor(turn: Turn, given: unknown) {
    this.#turn = turn
    this.#given = given
  }

  release(): void {
    this.#turn.runner.answerHeld(this.#turn, this.#given, true)
  }

  lose(): void {
    this.#turn.runner.answerHeld(this.#turn, this.#given, false)
  }

  reject(error: Error): void {
    this.#turn.runner.answerRejected(this.#turn, error)
  }
}

/** What the turns of a batch have decided. */
export interface Decided {
  /** The encoded state, or the end of the actor's life. */
  value: Uint8Array | LifeEnd
  /** What the head says of entries in indexes. */
  indexed: Uint8Array | undefined
  /** Whether nothing is added any more. */
  isFull: boolean
  /** Set when the batch is full: later turns must not be remembered with it. */
  memory: Uint8Array | undefined
  /** One for each key. */
  writes: readonly Write[]
  absent: readonly string[]
  /** Keys that reject the commit if they exist. */
  guards: readonly string[]
  /** The messages that leave when the batch is committed. */
  messages: readonly Message[]
}

export function newlyDecided(): Decided {
  return {
    value: NO_BYTES,
    indexed: undefined,
    isFull: false,
    memory: undefined,
    writes: NONE,
    absent: NONE,
    guards: NONE,
    messages: NONE,
  }
}

/** What the commit of a batch changes beside the state; undefined for nothing. */
export function changesOf({ writes, absent, guards }: Decided): SatelliteChanges | undefined {
  if (writes.length === 0 && absent.length === 0) return undefined
  return guards.length === 0 ? { writes, absent } : { writes, absent, guards }
}

/** What is added to a batch. */
export interface Contribution {
  readonly writes: readonly Write[]
  /** Keys that must not exist. */
  readonly absent: readonly string[]
  readonly messages: readonly Message[]
  /** What changes in indexes. */
  readonly change?: IndexChange | undefined
}

/** The writes of a batch with those of one more turn, which replace earlier ones of their keys. */
export function merged(before: readonly Write[], added: readonly Write[]): readonly Write[] {
  const all = both(before, added)
  if (all.length === 1 || (all.length === 2 && all[0]?.key !== all[1]?.key)) return all
  return [...new Map(all.map((one) => [one.key, one])).values()]
}

export function both(some: readonly Write[], others: readonly Write[]): readonly Write[] {
  if (some.length === 0) return others
  return others.length === 0 ? some : [...some, ...others]
}

const NO_BYTES = new Uint8Array(0)

const NONE: readonly never[] = []

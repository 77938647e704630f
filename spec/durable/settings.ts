import type { Setting } from "./setting.js"

export function setting(
  name: string,
  { operations, turnsPerBatch }: Pick<Setting, "operations" | "turnsPerBatch">,
  left: Setting["left"],
): Setting {
  return { name, operations, turnsPerBatch, left, bugs: [] }
}

const N = "numbered"
export const ONE = { operations: [N], turnsPerBatch: 2 } as const
export const TWO = { operations: [N, N], turnsPerBatch: 2 } as const
export const NAMED = { operations: ["named"], turnsPerBatch: 2 } as const
export const MIXED = { operations: [N, "named"], turnsPerBatch: 2 } as const
/** Each commit carries one turn, so a third one closes the batch of the second. */
export const NARROW = { operations: [N, N, N], turnsPerBatch: 1 } as const
const WIDE = { operations: [N, N, N], turnsPerBatch: 2 } as const

/** Explored in every run of the tests. The invariants hold in all states of each. */
export const SETTINGS: readonly Setting[] = [
  setting("one operation", ONE, { repeats: 2, losses: 2, moves: 2, throws: 2 }),
  setting("two operations", TWO, { repeats: 1, losses: 1, moves: 1 }),
  setting("two operations, given up", TWO, { repeats: 1, giveUps: 1, moves: 1 }),
  setting("two operations, thrown", TWO, { repeats: 1, throws: 1, moves: 1 }),
  setting("named", NAMED, { repeats: 2, losses: 2, moves: 2, throws: 2 }),
  setting("named beside numbered", MIXED, { repeats: 1, losses: 1, moves: 1 }),
  setting("narrow batches", NARROW, { moves: 1, losses: 1 }),
]

/** Explored by hand. */
export const LARGE_SETTINGS: readonly Setting[] = [
  setting("one operation, often", ONE, { repeats: 3, losses: 3, moves: 3, throws: 3, giveUps: 1 }),
  setting("two operations, with everything", TWO, { repeats: 2, losses: 1, moves: 2, throws: 1, giveUps: 1 }),
  setting("named, often", NAMED, { repeats: 3, losses: 3, moves: 3, throws: 3, giveUps: 1 }),
  setting("named beside numbered, thrown", MIXED, { repeats: 1, losses: 1, moves: 1, throws: 1, giveUps: 1 }),
  setting("three operations", WIDE, { repeats: 1, losses: 1, moves: 1, throws: 1 }),
  setting("narrow batches, repeated", NARROW, { repeats: 1, losses: 1, moves: 1 }),
]

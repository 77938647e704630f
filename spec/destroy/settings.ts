import type { Setting } from "./setting.js"

export function setting(
  name: string,
  { isShared, ...has }: Setting["has"] & Pick<Setting, "isShared">,
  left: Setting["left"],
): Setting {
  return { name, isShared, has, left, bugs: [] }
}

export const PLACED = { isShared: false, rows: 0, memory: false } as const
export const SHARDED = { isShared: true, rows: 0, memory: false } as const
export const WITH_ROWS = { isShared: false, rows: 2, memory: false } as const
export const WITH_MEMORY = { isShared: false, rows: 0, memory: true } as const
const ALL = { isShared: false, rows: 2, memory: true } as const
const ALL_SHARDED = { isShared: true, rows: 2, memory: true } as const

/** Explored in every run of the tests. The invariants hold in all states of each. */
export const SETTINGS: readonly Setting[] = [
  setting("destroyed", PLACED, { saves: 2, destroys: 1, moves: 1, losses: 2, ends: 1 }),
  setting("destroyed twice", PLACED, { saves: 2, destroys: 2, moves: 1, losses: 2 }),
  setting("destroyed in a shard", SHARDED, { saves: 2, destroys: 1, moves: 1, losses: 2, ends: 2 }),
  setting("destroyed twice in a shard", SHARDED, { saves: 2, destroys: 2, moves: 1, losses: 2, ends: 1 }),
  setting("destroyed, with satellites", WITH_ROWS, { saves: 3, destroys: 1, moves: 2, losses: 1 }),
  setting("destroyed, with a memory", WITH_MEMORY, {
    saves: 2,
    destroys: 2,
    moves: 1,
    losses: 1,
    forgets: 1,
  }),
  setting("destroyed in a shard, with both", ALL_SHARDED, {
    ...{ saves: 2, destroys: 1, moves: 1, losses: 1, forgets: 1, ends: 1 },
  }),
]

/** Explored by hand. */
export const LARGE_SETTINGS: readonly Setting[] = [
  setting("destroyed, with everything", ALL, {
    ...{ saves: 4, destroys: 2, moves: 2, losses: 2, forgets: 1, ends: 2 },
  }),
  setting("destroyed in a shard, with everything", ALL_SHARDED, {
    ...{ saves: 4, destroys: 2, moves: 2, losses: 2, forgets: 1, ends: 2 },
  }),
]

import type { Setting } from "./setting.js"

export function setting(name: string, left: Setting["left"], actors = 2): Setting {
  return { name, actors, left, bugs: [] }
}

/** Explored in every run of the tests. The invariants hold in all states of each. */
export const SETTINGS: readonly Setting[] = [
  setting("values taken and given up", { turns: 4, losses: 1 }),
  setting("commits lost", { turns: 3, losses: 3 }),
  setting("actors moved", { turns: 3, losses: 1, moves: 2 }),
]

/** Explored by hand. */
export const LARGE_SETTINGS: readonly Setting[] = [
  setting("values taken and given up, often", { turns: 5, losses: 2, moves: 1 }),
  setting("values of three actors", { turns: 4, losses: 2 }, 3),
]

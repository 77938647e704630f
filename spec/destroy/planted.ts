import type { Invariant } from "./here.js"
import type { Bug, Setting } from "./setting.js"
import { PLACED, SHARDED, setting, WITH_MEMORY, WITH_ROWS } from "./settings.js"

/** Bugs, each in a setting where it does harm, with what it breaks and the length of the shortest trace. */
export interface Planted {
  readonly setting: Setting
  readonly breaks: readonly { readonly invariant: Invariant; readonly steps: number }[]
}

export const PLANTED: readonly Planted[] = [
  planted("state-alone", PLACED, { saves: 1, destroys: 1, losses: 1 }, ["NoResurrection", 13]),
  planted("same-generation", SHARDED, { saves: 1, destroys: 1, losses: 1 }, ["NoResurrection", 13]),
  planted("dying-ignored", WITH_ROWS, { saves: 3, destroys: 1, moves: 1 }, ["NothingLeft", 14]),
  planted("memory-dropped", WITH_MEMORY, { saves: 1, destroys: 1 }, ["Remembered", 7]),
  planted("removal-undecided", SHARDED, { saves: 2, destroys: 1, moves: 1, ends: 1 }, ["Undisturbed", 14]),
  planted("removal-unconditioned", SHARDED, { saves: 2, destroys: 1, moves: 1, losses: 1, ends: 1 }, [
    "OnlyTombstones",
    16,
  ]),
]

function planted(
  bug: Bug,
  actor: Setting["has"] & Pick<Setting, "isShared">,
  left: Setting["left"],
  ...breaks: [invariant: Invariant, steps: number][]
): Planted {
  return {
    setting: { ...setting(bug, actor, left), bugs: [bug] },
    breaks: breaks.map(([invariant, steps]) => ({ invariant, steps })),
  }
}

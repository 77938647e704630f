import type { Invariant } from "./here.js"
import type { Bug, Setting } from "./setting.js"
import { NAMED, NARROW, ONE, setting, TWO } from "./settings.js"

/**
 * Bugs, each in a setting where it does harm, with the invariant that it breaks and the length of the
 * shortest trace. Where a second invariant breaks later, its trace is found too.
 */
export interface Planted {
  readonly setting: Setting
  readonly breaks: readonly { readonly invariant: Invariant; readonly steps: number }[]
}

export const PLANTED: readonly Planted[] = [
  planted("memory-apart", ONE, { repeats: 1, moves: 1 }, ["AppliedOnce", 7]),
  planted("gate-at-sending", ONE, { repeats: 1, moves: 1 }, ["Gate", 2]),
  planted("fresh-number", ONE, { repeats: 1 }, ["AppliedOnce", 6]),
  planted("closed-by-count", TWO, { repeats: 1 }, ["AppliedOnce", 10]),
  planted("throw-forgotten", ONE, { repeats: 1, throws: 1 }, ["ThrownIsNotApplied", 6]),
  planted("memory-of-later", NARROW, { repeats: 1, moves: 1 }, ["Gate", 11]),
  planted("look-up-early", NAMED, { repeats: 1, moves: 1 }, ["AppliedOnce", 6]),
  planted("no-guard", NAMED, { repeats: 1 }, ["AppliedOnce", 6]),
  planted("revision-ignored", TWO, { losses: 1 }, ["AppliedOnce", 10]),
]

function planted(
  bug: Bug,
  size: Pick<Setting, "operations" | "turnsPerBatch">,
  left: Setting["left"],
  ...breaks: [invariant: Invariant, steps: number][]
): Planted {
  return {
    setting: { ...setting(bug, size, left), bugs: [bug] },
    breaks: breaks.map(([invariant, steps]) => ({ invariant, steps })),
  }
}

import type { Invariant } from "./here.js"
import type { Bug, Setting } from "./setting.js"
import { setting } from "./settings.js"

/**
 * Bugs, each in a setting where it does harm, with the invariants that it breaks and the lengths of the
 * shortest traces.
 */
export interface Planted {
  readonly setting: Setting
  readonly breaks: readonly { readonly invariant: Invariant; readonly steps: number }[]
}

export const PLANTED: readonly Planted[] = [
  planted("no-guard", { turns: 2 }, ["IndexExact", 4]),
  planted("told-at-once", { turns: 4, losses: 1 }, ["RejectedIsNotApplied", 10]),
  planted("entries-of-rejected", { turns: 4 }, ["IndexExact", 6]),
  planted("entries-apart", { turns: 1 }, ["IndexExact", 2]),
  planted("not-alone", { turns: 3 }, ["IndexExact", 6]),
]

function planted(
  bug: Bug,
  left: Setting["left"],
  ...breaks: [invariant: Invariant, steps: number][]
): Planted {
  return {
    setting: { ...setting(bug, left), bugs: [bug] },
    breaks: breaks.map(([invariant, steps]) => ({ invariant, steps })),
  }
}

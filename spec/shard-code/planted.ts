import type { Invariant } from "./here.js"
import type { Bug, Setting } from "./setting.js"
import { ONE, setting, TWO } from "./settings.js"

/**
 * Bugs, each in a setting where it does harm, with the invariant that it breaks and the length of the
 * shortest trace. Where a second invariant breaks later, its trace is found too. Two bugs are planted together
 * where neither does harm alone.
 */
export interface Planted {
  readonly setting: Setting
  readonly breaks: readonly { readonly invariant: Invariant; readonly steps: number }[]
}

export const PLANTED: readonly Planted[] = [
  planted("undecided-restart", ONE, { starts: 2, saves: 1, ends: 1, losses: 1 }, ["FencedWrites", 6]),
  planted("hung-restart", ONE, { starts: 2, saves: 1, hangs: 1, losses: 1 }, ["FencedWrites", 6]),
  planted("late-doors", ONE, { transfers: 1, starts: 1, losses: 1 }, ["SingleActivation", 6]),
  planted(
    "adopted-unread",
    ONE,
    { transfers: 2, starts: 2, words: 1 },
    ["SingleActivation", 11],
    ["TokenOrder", 14],
  ),
  planted("adopted-twice", ONE, { releases: 1, starts: 1, words: 1 }, ["SingleActivation", 6]),
  planted("adopted-beside-a-claim", ONE, { transfers: 1, claims: 1, starts: 1, words: 1, losses: 2 }, [
    "SingleActivation",
    11,
  ]),
  planted("kept-reopens", ONE, { transfers: 1, starts: 1, losses: 1 }, ["SingleActivation", 7]),
  planted("save-on-state", ONE, { transfers: 1, starts: 2, saves: 1, losses: 1 }, ["FencedWrites", 10]),
  planted("save-on-shard", ONE, { starts: 1, saves: 2, losses: 1 }, ["FencedWrites", 7], ["NoAckedLoss", 7]),
  planted("anew-unwaited", TWO, { starts: 2, saves: 1, hangs: 1 }, ["Undisturbed", 7]),
  planted(["repeated-ids", "revision-ignored"], ONE, { starts: 2, saves: 2, ends: 1, losses: 1 }, [
    "TrueAnswers",
    8,
  ]),
  planted("transfer-without-record", ONE, { transfers: 1, leaves: 1 }, ["PlacementConsistency", 4]),
]

function planted(
  bug: Bug | readonly [Bug, Bug],
  size: Pick<Setting, "nodes" | "entities">,
  left: Setting["left"],
  ...breaks: [invariant: Invariant, steps: number][]
): Planted {
  const bugs = typeof bug === "string" ? [bug] : bug
  return {
    setting: { ...setting(bugs.join(" and "), size, left), bugs },
    breaks: breaks.map(([invariant, steps]) => ({ invariant, steps })),
  }
}

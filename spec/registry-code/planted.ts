import type { Bug } from "./bugs.js"
import type { Invariant } from "./here.js"
import type { Setting } from "./setting.js"
import { clocks, PAUSED, STILL, setting, WATCHED, WORST } from "./settings.js"

/**
 * Bugs, each in a setting where it does harm, with the invariant that it breaks and the length of the
 * shortest trace. Where a second invariant breaks later, its trace is found too.
 *
 * Some bugs are not in a decision or a commit. `doors-of-node` and `read-before-claim` would be in the
 * drivers (`tenure.ts`, `claim-driver.ts`), and simulation plants them there as well; `generation-restarts`
 * would be in the store, whose revisions the generations are; `wall-by-lead` is the rejected alternative to
 * the deadline on the wall clock.
 */
export interface Planted {
  readonly setting: Setting
  readonly breaks: readonly { readonly invariant: Invariant | "RecordWithLease"; readonly steps: number }[]
}

export const PLANTED: readonly Planted[] = [
  planted("takeover-without-record", { claims: 2 }, {}, ["SingleActivation", 5]),
  planted("deadline-from-reply", { renewals: 1, slowAnswers: 1, claims: 1 }, WATCHED, [
    "PlacementConsistency",
    10,
  ]),
  planted("deadline-from-look", { renewals: 1, losses: 1, claims: 1 }, WATCHED, ["PlacementConsistency", 12]),
  planted("answer-of-another", { renewals: 1, slowAnswers: 1, losses: 1, claims: 1 }, WATCHED, [
    "PlacementConsistency",
    13,
  ]),
  planted(
    "doors-open-unconfirmed",
    { renewals: 2, claims: 2 },
    {},
    ["PlacementConsistency", 7],
    ["SingleActivation", 11],
  ),
  planted(
    "refusal-goes-on",
    { renewals: 2, claims: 2 },
    {},
    ["PlacementConsistency", 8],
    ["SingleActivation", 12],
  ),
  planted("renewal-without-lease", { renewals: 2, losses: 2, crashes: 1, claims: 0 }, WATCHED, [
    "OneLateRenewal",
    10,
  ]),
  planted("renewal-without-record", { renewals: 1, downs: 1, claims: 0 }, {}, ["DownIsHeeded", 5]),
  planted(
    "renewal-unconditioned",
    { renewals: 2, claims: 2 },
    {},
    ["RecordWithLease", 5],
    ["SingleActivation", 12],
  ),
  planted(
    "save-on-ownership",
    { saves: 2, losses: 1, claims: 1 },
    {},
    ["FencedWrites", 8],
    ["NoAckedLoss", 8],
  ),
  planted("save-on-state", { saves: 1, losses: 1, crashes: 1, claims: 2 }, STILL, ["FencedWrites", 10]),
  planted("release-unconditioned", { releases: 1, claims: 3 }, {}, ["SingleActivation", 9]),
  planted("claim-without-record", { leaves: 1, claims: 1 }, {}, ["PlacementConsistency", 4]),
  planted("adopted-generation", { releases: 1, claims: 3 }, STILL, ["SingleActivation", 9]),
  planted("ended-early", { claims: 2 }, {}, ["PlacementConsistency", 5], ["SingleActivation", 7]),
  planted("ended-unconditioned", { renewals: 1, losses: 1, claims: 1 }, WATCHED, ["PlacementConsistency", 9]),
  planted(
    "given-up-unfenced",
    { leaves: 1, claims: 2 },
    {},
    ["PlacementConsistency", 6],
    ["SingleActivation", 8],
  ),
  planted("down-unconditioned", { downs: 1, claims: 0 }, {}, ["RecordWithLease", 5]),
  planted("down-adopted", { downs: 1, losses: 1, renewals: 2, claims: 0 }, {}, ["DownIsHeeded", 9]),
  planted("down-taken-for-leaving", { leaves: 1, downs: 1, claims: 0 }, {}, ["DownIsHeeded", 8]),
  planted("refusal-is-failure", { saves: 1, losses: 1, claims: 1 }, {}, ["TrueAnswers", 8]),
  planted("silence-is-failure", { saves: 1, losses: 1, claims: 1 }, {}, ["TrueAnswers", 7]),
  planted(
    "wall-is-ignored",
    { renewals: 1, claims: 2 },
    PAUSED,
    ["PlacementConsistency", 6],
    ["SingleActivation", 10],
  ),
  planted(
    "wall-by-lead",
    { renewals: 1, claims: 2 },
    PAUSED,
    ["PlacementConsistency", 6],
    ["SingleActivation", 10],
  ),
  planted("forwards-unlimited", { calls: 1, releases: 3, claims: 4 }, STILL, ["TwoForwards", 20]),
  planted("doors-of-node", { releases: 1, claims: 2 }, STILL, ["SingleActivation", 6]),
  planted("read-before-claim", { saves: 1, releases: 1, claims: 2 }, { guess: "nothing", ...STILL }, [
    "NoAckedLoss",
    9,
  ]),
  planted(
    "generation-restarts",
    { saves: 1, losses: 1, releases: 1, claims: 3 },
    STILL,
    ["SingleActivation", 9],
    ["FencedWrites", 13],
  ),
  planted("cache-goes-back", { words: 1, releases: 1, claims: 2 }, { guess: "cache", ...STILL }, [
    "CacheOrder",
    6,
  ]),
  drift("holder too slow", { rates: [clocks(1), [WORST]] }, 6, 10),
  drift("observer too fast", { rates: [[WORST], [{ ...WORST, watch: 8 }]] }, 5, 7),
]

function planted(
  bug: Bug,
  left: Setting["left"],
  more: Partial<Setting>,
  ...breaks: [invariant: Planted["breaks"][number]["invariant"], steps: number][]
): Planted {
  return {
    setting: { ...setting(bug, left, more), bugs: [bug] },
    breaks: breaks.map(([invariant, steps]) => ({ invariant, steps })),
  }
}

/** Clocks outside the bound: a door opens on a node whose record is gone, and later beside a successor. */
function drift(name: string, more: Partial<Setting>, gone: number, beside: number): Planted {
  return {
    setting: setting(name, { renewals: 1, claims: 2 }, more),
    breaks: [
      { invariant: "PlacementConsistency", steps: gone },
      { invariant: "SingleActivation", steps: beside },
    ],
  }
}

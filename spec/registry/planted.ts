import type { Bug } from "./bugs.js"
import type { Setting } from "./setting.js"
import { clocks, drifting, paused, setting } from "./settings.js"
import type { Invariant } from "./store.js"

/**
 * Mistakes, each in a setting where it can do harm, with the invariant that it breaks and the number of steps of the shortest way
 * there. Where a second invariant breaks later, its way is here as well.
 */
export interface Planted {
  readonly setting: Setting
  readonly breaks: readonly { readonly invariant: Invariant | "RecordWithLease"; readonly steps: number }[]
}

export const PLANTED: readonly Planted[] = [
  planted("takeover-without-record", { renewals: 1 }, {}, ["SingleActivation", 6]),
  planted(
    "deadline-from-reply",
    { renewals: 2, slowAnswers: 1 },
    { timing: { holdFor: 3, endAfter: 3, pausedRule: { kind: "none" } } },
    ["PlacementConsistency", 12],
    ["SingleActivation", 16],
  ),
  planted("renewal-without-lease", { renewals: 2, delays: 2, crashes: 1, claims: 0 }, {}, [
    "OneLateRenewal",
    8,
  ]),
  planted("renewal-without-record", { renewals: 1, downs: 1, claims: 0 }, {}, ["DownIsHeeded", 5]),
  planted("renewal-unconditioned", { renewals: 2 }, {}, ["RecordWithLease", 5], ["SingleActivation", 13]),
  planted(
    "doors-open-unconfirmed",
    { renewals: 2 },
    {},
    ["PlacementConsistency", 8],
    ["SingleActivation", 11],
  ),
  planted("refusal-goes-on", { renewals: 2 }, {}, ["PlacementConsistency", 9], ["SingleActivation", 13]),
  planted(
    "save-on-ownership",
    { saves: 2, delays: 1, releases: 1 },
    { isSharded: true },
    ["FencedWrites", 9],
    ["NoAckedLoss", 9],
  ),
  planted("release-unconditioned", { releases: 1, delays: 1 }, {}, ["SingleActivation", 12]),
  planted("claim-without-record", { leaves: 1, delays: 1 }, {}, ["PlacementConsistency", 4]),
  planted("adopted-generation", { saves: 1, delays: 1 }, {}, ["FencedWrites", 10]),
  planted(
    "generation-restarts",
    { saves: 1, delays: 1, releases: 1 },
    {},
    ["SingleActivation", 12],
    ["FencedWrites", 15],
  ),
  planted("ended-early", { renewals: 1 }, {}, ["PlacementConsistency", 6], ["SingleActivation", 8]),
  planted("doors-of-node", { saves: 1, losses: 1 }, {}, ["SingleActivation", 10]),
  planted("read-before-claim", { saves: 1, renewals: 1 }, {}, ["NoAckedLoss", 15]),
  planted("given-up-unfenced", { leaves: 1 }, {}, ["PlacementConsistency", 8], ["SingleActivation", 10]),
  planted("down-unconditioned", { downs: 1 }, {}, ["RecordWithLease", 5]),
  planted(
    "down-adopted",
    { downs: 1, losses: 1, renewals: 2 },
    {},
    ["PlacementConsistency", 7],
    ["DownIsHeeded", 8],
  ),
  planted("undecided-restart", { saves: 1, delays: 1 }, { isSharded: true }, ["FencedWrites", 10]),
  planted("refusal-is-failure", { saves: 1, delays: 1 }, {}, ["TrueAnswers", 9]),
  planted("cache-goes-back", { calls: 1, releases: 1 }, {}, ["CacheOrder", 11]),
  drift("holder too slow", 0, drifting(clocks(0, 1), clocks(3)), 9),
  drift("observer too fast", 0, drifting(clocks(1), clocks(1, 4)), 8),
  drift("paused, no rule", 1, paused({ parts: 2, drift: 1, ttlTicks: 4, rule: "none" }), 9, 13),
  drift(
    "paused, by the wall's lead, drift of half the margin",
    1,
    paused({ parts: 4, drift: 1, ttlTicks: 5, rule: "ahead" }),
    11,
    15,
  ),
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

/** Clocks beyond the bound: first a door opens on a node whose record is gone, then, if another may claim, beside a successor. */
function drift(
  name: string,
  renewals: number,
  more: Partial<Setting>,
  gone: number,
  beside?: number,
): Planted {
  const breaks: Planted["breaks"][number][] = [{ invariant: "PlacementConsistency", steps: gone }]
  if (beside !== undefined) breaks.push({ invariant: "SingleActivation", steps: beside })
  return { setting: setting(name, { renewals }, more), breaks }
}

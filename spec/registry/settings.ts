import type { PausedRule, Rate, Setting } from "./setting.js"
import { UNLIMITED } from "./world.js"

/** The slowest clock for holding a lease, the fastest for watching one; a ttl is two ticks of true time. */
const worst: Rate = { mono: 1, wall: 0, watch: 1 }

const base: Omit<Setting, "name" | "left"> = {
  timing: { holdFor: 2, endAfter: 2, pausedRule: { kind: "none" } },
  rates: [[worst], [worst]],
  isSightPrompt: true,
  hasJoined: true,
  maxIncarnations: [1, 1],
  isCalm: false,
  isSharded: false,
  isDeathProved: false,
  bugs: [],
}

export function setting(name: string, left: Setting["left"], more: Partial<Setting> = {}): Setting {
  return { ...base, name, ...more, left: { claims: UNLIMITED, ...left } }
}

/** Clocks that run some parts of a tick, where two are right: one to three are within a margin of 1/2. A ttl is four ticks. */
export function drifting(...rates: Rate[][]): Partial<Setting> {
  return { timing: { holdFor: 4, endAfter: 12, pausedRule: { kind: "none" } }, rates }
}

export function clocks(...parts: number[]): Rate[] {
  return parts.map((mono) => ({ mono, wall: 0, watch: mono }))
}

/** The first machine may be paused. A tick has some parts, and clocks are off by `drift` of them at most; the margin is 1/2. */
export function paused({ parts, drift, ttlTicks, rule }: PausedOptions): Partial<Setting> {
  const half = (parts * ttlTicks) / 2
  const slow = parts - drift
  const pausedRule: PausedRule = rule === "ahead" ? { kind: rule, margin: half } : { kind: rule }
  const running: Rate = { mono: slow, wall: slow, watch: slow }
  return {
    timing: { holdFor: half, endAfter: 3 * half, pausedRule },
    rates: [[running, { ...running, mono: 0, watch: 0 }], [{ ...running, watch: parts + drift }]],
  }
}

export interface PausedOptions {
  readonly parts: number
  readonly drift: number
  readonly ttlTicks: number
  readonly rule: PausedRule["kind"]
}

/** Small enough for every run of the tests. In each the invariants hold in all states. */
export const SETTINGS: readonly Setting[] = [
  setting("late saves", { saves: 2, delays: 1, losses: 1 }),
  setting("late saves, renewed leases", { saves: 1, delays: 1, renewals: 1 }),
  setting("late saves, two at once", { saves: 2, delays: 2 }),
  setting("crash and rejoin", { saves: 1, crashes: 1, joins: 1, delays: 1 }, { maxIncarnations: [1, 2] }),
  setting("joining again and again", { joins: UNLIMITED, renewals: UNLIMITED }, { maxIncarnations: [1, 2] }),
  setting(
    "cold start",
    { joins: 3, delays: 1, renewals: 1, claims: 2 },
    { hasJoined: false, maxIncarnations: [2, 1] },
  ),
  setting("leaving", { leaves: 1, delays: 1, saves: 1 }),
  setting("downing", { downs: 2, losses: 1, renewals: 1 }),
  setting("releases", { releases: 2, delays: 1, losses: 1 }),
  setting("slow answers", { slowAnswers: 1, losses: 1, renewals: 1, saves: 1 }),
  setting(
    "renewals",
    { renewals: UNLIMITED, delays: 2, crashes: 1, claims: 0 },
    { timing: { holdFor: 3, endAfter: 3, pausedRule: { kind: "none" } } },
  ),
  setting("clocks within the bound", { renewals: 1 }, drifting(clocks(1, 3), clocks(1, 3))),
  setting(
    "paused, by the wall's lead",
    { renewals: 1 },
    paused({ parts: 5, drift: 1, ttlTicks: 4, rule: "ahead" }),
  ),
  setting("paused, exactly", { claims: 2 }, paused({ parts: 5, drift: 1, ttlTicks: 10, rule: "ahead" })),
  setting(
    "paused, by the wall's deadline",
    { renewals: 1 },
    paused({ parts: 2, drift: 1, ttlTicks: 4, rule: "deadline" }),
  ),
  setting("sharding", { saves: 2, delays: 1, releases: 1 }, { isSharded: true }),
  setting("cache and forwards", { calls: 1, releases: 1, renewals: 1 }, { isCalm: true }),
  setting("call to a node that dies", { calls: 1, crashes: 1, renewals: 3 }, { isCalm: true }),
  setting("sights at any time", { renewals: 1 }, { isSightPrompt: false }),
  setting("death proved", { crashes: 1, joins: 1, delays: 1, saves: 1 }, { isDeathProved: true }),
]

/** For the properties that say that something happens. */
export const PROGRESS_SETTINGS = {
  /** Nothing is said about time: a lease may run out at any moment. */
  stormy: setting("stormy", { renewals: 1, joins: 1, crashes: 1, delays: 1, claims: 2 }),
  crashing: calm("crashing", { crashes: 1, losses: 1 }, [1, 2]),
  downing: calm("downing", { downs: 1 }, [2, 1]),
  leaving: calm("leaving", { leaves: 1, delays: 1 }, [1, 1]),
  calling: calm("calling", { calls: 1, releases: 1 }, [1, 1]),
} as const

function calm(name: string, left: Setting["left"], maxIncarnations: readonly number[]): Setting {
  return setting(name, { renewals: UNLIMITED, joins: UNLIMITED, ...left }, { maxIncarnations, isCalm: true })
}

/** Explored by hand: minutes, and gigabytes. */
export const LARGE_SETTINGS: readonly Setting[] = [
  setting(
    "both rejoin, both full",
    { joins: UNLIMITED, renewals: UNLIMITED, saves: 1 },
    { maxIncarnations: [2, 2] },
  ),
  setting("late saves and releases", { saves: 2, delays: 2, losses: 1, renewals: 1, releases: 1 }),
  setting(
    "crash, leave, down",
    { crashes: 1, leaves: 1, downs: 1, losses: 1, joins: 1, saves: 1 },
    { maxIncarnations: [1, 2] },
  ),
  setting(
    "cold start, all faults of the store",
    { joins: 3, delays: 1, losses: 1, slowAnswers: 1, crashes: 1, saves: 1 },
    { hasJoined: false, maxIncarnations: [2, 2] },
  ),
  setting("calls and crashes", { calls: 2, releases: 1, crashes: 1, losses: 1 }),
  setting(
    "clocks, sights at any time",
    { renewals: 1 },
    { ...drifting(clocks(1, 2, 3), clocks(1, 2, 3)), isSightPrompt: false },
  ),
  setting(
    "paused, exactly, renewed",
    { claims: 2, renewals: 1 },
    paused({ parts: 5, drift: 1, ttlTicks: 10, rule: "ahead" }),
  ),
  setting("leaving, all faults of the store", { leaves: 1, delays: 1, losses: 1, slowAnswers: 1, saves: 1 }),
  setting("slow answers and renewals", { slowAnswers: 2, losses: 1, renewals: 1, saves: 1, delays: 1 }),
  setting(
    "sharding, all faults of the store",
    { saves: 2, delays: 1, losses: 1, slowAnswers: 1, releases: 1 },
    { isSharded: true },
  ),
]

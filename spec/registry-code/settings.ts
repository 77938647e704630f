import type { Rate, Setting } from "./setting.js"
import { UNLIMITED } from "./world.js"

/** The slowest clock for holding a lease, the fastest for watching one. */
export const WORST: Rate = { mono: 2, wall: 2, watch: 4 }

const base: Omit<Setting, "name" | "left"> = {
  rates: [[WORST], [WORST]],
  isSightPrompt: true,
  joined: "both",
  isCalm: false,
  guess: "store",
  isDeathProved: false,
  bugs: [],
}

export function setting(name: string, left: Setting["left"], more: Partial<Setting> = {}): Setting {
  return { ...base, name, ...more, left: { claims: UNLIMITED, ...left } }
}

/** Rates of one process: ms that its clocks advance in a tick of three. */
export function clocks(...ms: number[]): Rate[] {
  return ms.map((mono) => ({ mono, wall: mono, watch: mono }))
}

/** The first machine may be suspended: its monotonic clock stands still, and its wall clock does not. */
export const PAUSED: Partial<Setting> = {
  rates: [
    [
      { mono: 2, wall: 2, watch: 2 },
      { mono: 0, wall: 2, watch: 0 },
    ],
    [WORST],
  ],
}

/** Clocks that change their speed from tick to tick. */
const DRIFTING: Partial<Setting> = { rates: [clocks(2, 4), clocks(2, 4)] }

/** No time passes, and deaths are proved. There are fewer states, so there can be more faults. */
export const STILL: Partial<Setting> = { rates: [[], []], isDeathProved: true }

/** Only the first process is a node; the other one observes its lease. */
export const WATCHED: Partial<Setting> = { joined: "first" }

/** Unlimited renewals and joins. */
const ENDLESS = { renewals: UNLIMITED, joins: UNLIMITED }

/** Explored in every run of the tests. The invariants hold in all states of each. */
export const SETTINGS: readonly Setting[] = [
  setting("late saves", { saves: 2, losses: 2, releases: 1, claims: 2 }, STILL),
  setting("late saves, taken over", { saves: 2, losses: 2, crashes: 1, claims: 3 }, STILL),
  setting("late saves, leases run out", { saves: 1, renewals: 1, claims: 2 }),
  setting("crash and rejoin", { crashes: 1, joins: 1, claims: 2 }),
  setting("cold start", { joins: 2, losses: 1, claims: 1 }, { joined: "none" }),
  setting("leaving", { leaves: 1, losses: 2, claims: 1 }, WATCHED),
  setting("leaving after a save", { leaves: 1, saves: 1, claims: 2 }),
  setting("leaving and downed", { leaves: 1, downs: 1, claims: 0 }),
  setting("downing", { downs: 1, renewals: 1, claims: 1 }),
  setting("releases", { releases: 2, losses: 2, claims: 3 }, { guess: "nothing", ...STILL }),
  setting("slow answers", { slowAnswers: 2, losses: 1, renewals: 2, claims: 1 }, WATCHED),
  setting("renewals", { renewals: UNLIMITED, losses: 3, crashes: 1, claims: 0 }, WATCHED),
  setting("clocks within the bound", { renewals: 1, claims: 2 }, DRIFTING),
  setting("paused", { renewals: 4, claims: 1 }, { ...PAUSED, ...WATCHED }),
  setting("cache", { words: 1, releases: 1, crashes: 1, claims: 3 }, { guess: "cache", ...STILL }),
  setting("sights at any time", { renewals: 3, claims: 1 }, { isSightPrompt: false, ...WATCHED }),
  setting("death proved", { crashes: 1, losses: 1, claims: 2 }, { isDeathProved: true }),
  setting("joining again and again", { joins: UNLIMITED }, { maxLives: [2, 1] }),
  setting("calls and forwards", { calls: 1, releases: 1, crashes: 1, claims: 3 }, STILL),
  setting("calls to a node that leaves", { calls: 1, leaves: 1, claims: 2 }, STILL),
  setting("calls without a node", { calls: 1, crashes: 1, claims: 1 }, { ...STILL, ...WATCHED }),
  setting("given up after all", { giveUps: 1, renewals: 1, claims: 2 }),
]

/** The settings of the liveness properties. */
export const PROGRESS_SETTINGS = {
  /** Without an assumption on time: a lease may run out at any moment. */
  stormy: setting("stormy", { crashes: 1, losses: 1, renewals: 1, claims: 1 }),
  stormyRejoin: setting("stormy, joining again", { crashes: 1, joins: 1, renewals: 1, claims: 1 }),
  crashing: calm("crashing", { crashes: 1 }),
  crashingUnanswered: calm("crashing, unanswered", { crashes: 1, losses: 1, claims: 0 }),
  unanswered: calm("unanswered", { losses: 1 }),
  downing: calm("downing", { downs: 1 }),
  downingCrashed: calm("downing, crashed", { downs: 1, crashes: 1, claims: 0 }),
  leaving: calm("leaving", { leaves: 1 }),
  leavingUnanswered: calm("leaving, unanswered", { leaves: 1, losses: 1, claims: 0 }),
  calling: setting("calling", { calls: 1, releases: 1, crashes: 1 }, STILL),
  callingInTime: calm("calling, in time", { calls: 1 }),
} as const

function calm(name: string, left: Setting["left"]): Setting {
  return setting(name, { ...ENDLESS, ...left }, { maxLives: [2, 1], isCalm: true })
}

/** Explored by hand. */
export const LARGE_SETTINGS: readonly Setting[] = [
  setting("late saves, three of them", { saves: 3, losses: 2, releases: 1, claims: 3 }, STILL),
  setting("late saves, leases run out, renewed twice", { saves: 1, renewals: 2, claims: 2 }),
  setting("slow answers to saves", { slowAnswers: 1, saves: 1, renewals: 1, claims: 2 }),
  setting("given up after all, renewed twice", { giveUps: 1, renewals: 2, claims: 2 }),
  setting("late saves, with a loss, leases run out", { saves: 1, losses: 1, renewals: 1, claims: 2 }),
  setting("late saves, with a loss, and a successor's", { saves: 2, losses: 1, renewals: 1, claims: 2 }),
  setting("late saves and releases", { saves: 2, losses: 2, releases: 1, crashes: 1, claims: 3 }, STILL),
  setting("crash and rejoin, renewed", { crashes: 1, joins: 1, renewals: 1, claims: 2 }),
  setting("clocks within the bound, renewed twice", { renewals: 2, claims: 2 }, DRIFTING),
  setting("crash and rejoin, with a loss", { crashes: 1, joins: 1, losses: 1, claims: 2 }),
  setting("cold start, three joins", { joins: 3, losses: 1, claims: 2 }, { joined: "none" }),
  setting("leaving, both", { leaves: 1, losses: 1, claims: 1 }),
  setting("leaving, with a save", { leaves: 1, losses: 1, saves: 1, claims: 2 }),
  setting("downing, with a loss", { downs: 1, losses: 1, renewals: 1, claims: 1 }),
  setting("slow answers, both", { slowAnswers: 1, losses: 1, renewals: 1, claims: 1 }),
  setting("paused, taken over", { renewals: 1, claims: 2 }, PAUSED),
  setting("joining again and again, renewed", { ...ENDLESS, claims: 1 }, { maxLives: [2, 1] }),
  setting("crash, leave, down", { crashes: 1, leaves: 1, downs: 1, claims: 1 }),
  setting("calls, leases run out", { calls: 1, renewals: 1, claims: 2 }),
  setting("calls and crashes", { calls: 1, releases: 2, crashes: 1, claims: 3 }, STILL),
  setting("cache, leases run out", { words: 1, releases: 1, claims: 2 }, { guess: "cache" }),
]

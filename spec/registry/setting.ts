import type { Bug } from "./bugs.js"
import type { Age, Left, Process } from "./world.js"

/** What is explored: which faults there are and how often, how clocks run, and which bug is planted. */
export interface Setting {
  readonly name: string
  readonly timing: Timing
  /** How the clocks of each process may run from one tick to the next. */
  readonly rates: readonly (readonly Rate[])[]
  /** Leases are seen as soon as they are written: the worst for their holders. Otherwise at any time. */
  readonly isSightPrompt: boolean
  /** Whether both processes have joined when it begins. */
  readonly hasJoined: boolean
  /** How many node ids of each process may be known anywhere at once. */
  readonly maxIncarnations: readonly number[]
  readonly left: Partial<Left>
  /** Time waits for the store to answer and for leases to be renewed. */
  readonly isCalm: boolean
  /** Entities start again under their shard's generation. */
  readonly isSharded: boolean
  /** A process's death can be proved at once. */
  readonly isDeathProved: boolean
  readonly bugs: readonly Bug[]
}

/**
 * Ages count in parts of a tick of true time. A holder is silent from `holdFor` on, an observer waits for `endAfter`.
 *
 * With a margin of 1/2 and ticks of two parts, a clock within the bound runs one, two or three parts a tick. For a ttl of `t`
 * ticks the holder acts for `t` parts, `t` ticks of its slowest clock; an observer waits for `3t` parts, `t` ticks of its fastest.
 */
export interface Timing {
  readonly holdFor: number
  readonly endAfter: number
  readonly pausedRule: PausedRule
}

/**
 * How far clocks move in a tick: the monotonic one, the wall clock, and the monotonic one as it counts what was seen of others.
 * That is one and the same clock; but one which is slow where it is a holder's and fast where it is an observer's is the worst there
 * can be, and takes fewer states than all the clocks that are sometimes slow and sometimes fast.
 */
export interface Rate {
  readonly mono: number
  readonly wall: number
  readonly watch: number
}

/** When doors wait for a renewal although the deadline has not come: the wall clock shows that the machine was paused. */
export type PausedRule =
  | { readonly kind: "none" }
  /** It ran ahead of the monotonic clock by more than a margin. */
  | { readonly kind: "ahead"; readonly margin: number }
  /** The deadline has passed on it. */
  | { readonly kind: "deadline" }

/** Whether the doors of a process are open as far as its lease goes. */
export function mayAct({ phase, age }: Process, timing: Timing): boolean {
  return phase === "up" && age.mono < timing.holdFor && !isPaused(age, timing)
}

function isPaused(age: Age, { pausedRule, holdFor }: Timing): boolean {
  switch (pausedRule.kind) {
    case "none":
      return false
    case "ahead":
      return age.wall - age.mono > pausedRule.margin
    case "deadline":
      return age.wall >= holdFor
  }
}

/** Beyond these ages nothing changes any more. */
export function later(age: Age, rate: Rate, { holdFor, pausedRule }: Timing): Age {
  const mono = Math.min(age.mono + rate.mono, holdFor)
  if (mono === holdFor || pausedRule.kind === "none") return { mono, wall: 0 }
  const lastWall = pausedRule.kind === "ahead" ? holdFor + pausedRule.margin + 1 : holdFor
  return { mono, wall: Math.min(age.wall + rate.wall, lastWall) }
}

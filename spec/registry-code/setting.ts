import type { LeaseTerms } from "../../src/registry/lease-terms.js"
import type { Bug } from "./bugs.js"
import type { Left } from "./world.js"

/** What is explored: which faults there are and how often, how clocks run, and which bug is planted. */
export interface Setting {
  readonly name: string
  /** How the clocks of each process may run from one tick to the next. */
  readonly rates: readonly (readonly Rate[])[]
  /** Leases are seen as soon as they are written: the worst for their holders. Otherwise at any time. */
  readonly isSightPrompt: boolean
  /** Who has joined when it begins. A process that has not, while the first has, is up, and watches. */
  readonly joined: "both" | "first" | "none"
  readonly left: Partial<Left>
  /** What a claim begins with: what stands there, nothing, or what the cache has. */
  readonly guess: "store" | "nothing" | "cache"
  /** A process's death can be proved at once. */
  readonly isDeathProved: boolean
  readonly bugs: readonly Bug[]
}

/**
 * A tick is 3 ms of true time, and a ttl two ticks. With a margin of 1/3 a clock within the bound runs 2 to 4 ms a tick: a holder is
 * silent after 4 ms, two ticks of the slowest clock, and an observer waits for 8 ms, two ticks of the fastest. A renewal is due
 * after 2 ms. All of these are exact.
 */
export const TERMS: LeaseTerms = { ttlMs: 6, driftMargin: 1 / 3 }

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

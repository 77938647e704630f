import type { LeaseTerms } from "../../src/registry/lease-terms.js"
import type { Bug } from "./bugs.js"
import type { Left } from "./world.js"

/** What is explored: the faults and how often they happen, how clocks run, and which bug is planted. */
export interface Setting {
  readonly name: string
  /** How the clocks of each process may run from one tick to the next. */
  readonly rates: readonly (readonly Rate[])[]
  /** Leases are seen as soon as they are written, which is the worst for their holders; or at any time. */
  readonly isSightPrompt: boolean
  /** Who has joined at the start. Under `first`, the other process is up and observes. */
  readonly joined: "both" | "first" | "none"
  /**
   * The number of incarnations of each process that may be named anywhere at once. Set where joins are
   * unlimited and incarnations are ranks.
   */
  readonly maxLives?: readonly number[]
  readonly left: Partial<Left>
  /** Time waits for the store to answer, and for renewals that are due. */
  readonly isCalm: boolean
  /** The guess that a claim begins with: what the store has, nothing, or what the cache has. */
  readonly guess: "store" | "nothing" | "cache"
  /** A process's death can be proved at once. */
  readonly isDeathProved: boolean
  readonly bugs: readonly Bug[]
}

/**
 * A tick is 3 ms of true time, and a ttl two ticks. With a margin of 1/3 a clock within the bound advances 2
 * to 4 ms in a tick: a holder is silent after 4 ms, two ticks of the slowest clock, and an observer waits for
 * 8 ms, two ticks of the fastest. A renewal is due after 2 ms. All of these are exact.
 */
export const TERMS: LeaseTerms = { ttlMs: 6, driftMargin: 1 / 3 }

/**
 * How far clocks advance in a tick: the monotonic clock, the wall clock, and the monotonic clock as an
 * observer uses it. The first and the last are one clock; but one that is slow for the holder and fast for
 * the observer is the worst case, and takes fewer states than clocks that change their speed.
 */
export interface Rate {
  readonly mono: number
  readonly wall: number
  readonly watch: number
}

import type { MonotonicMs } from "../ports/clock.js"

/** How one node judges the silence of another. */
export interface PhiTerms {
  /** How often the subject is pinged. */
  readonly intervalMs: number
  readonly maxSamples: number
  readonly minDeviationMs: number
  readonly acceptablePauseMs: number
  readonly firstEstimateMs: number
}

export class PhiDetector {
  constructor(_terms: PhiTerms, _now: MonotonicMs) {}

  /** The subject has answered. */
  answered(_now: MonotonicMs): void {}

  /** This process was away for this long, which does not count as silence of the subject. */
  away(_ms: number): void {}

  /** Returns -log10 of the probability that the next answer comes later than now. */
  phi(_now: MonotonicMs): number {
    return 0
  }
}

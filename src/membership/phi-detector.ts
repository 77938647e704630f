import { assert } from "../errors/assert.js"
import type { MonotonicMs } from "../ports/clock.js"
import { erfc, logErfc } from "./erfc.js"

/**
 * Judges the silence of one node by how regularly it has answered so far: a decision.
 *
 * The intervals between answers are taken as normally distributed, with the mean and the deviation of the
 * last ones. Phi is -log10 of the probability that an answer still comes after a silence as long as this one.
 * So a threshold of 8 stands for one mistake in 10^8 silences, on a good network and on a bad one, where a
 * fixed timeout would be too long for one and too short for the other. `acceptablePauseMs` is added to the
 * mean, because pauses of a process (garbage collection, a busy disk) are too rare to show in the deviation.
 *
 * An interval counts as at least `intervalMs` and at most MOST_INTERVALS of them. Both bounds are needed:
 * - After a stall several answers arrive at once. Without the lower bound, these intervals of 0 would reduce
 *   the mean, and the next stall would exceed it. With it the mean is at least `intervalMs`, so a node is
 *   never suspected before intervalMs + acceptablePauseMs + z × minDeviationMs, with z = 5.612 for the
 *   threshold of 8: by default 4,561 ms.
 * - A stall is no interval of the network. Without the upper bound, a few long stalls would increase the mean
 *   and the deviation so much that the death of the node would not be noticed for minutes.
 *
 * The upper bound limits how long any silence may last. Let all intervals be in [a, b], with a share p at b:
 * no other distribution with that mean has a larger deviation, which is (b - a) × sqrt(p(1 - p)). Then the
 * mean plus z deviations is a + (b - a) × (p + z × sqrt(p(1 - p))), which is largest for
 * p = (1 + 1 / sqrt(1 + z²)) / 2, where it is a + (b - a) × (1 + sqrt(1 + z²)) / 2. By default that is
 * 1,000 + 400 × 3.3502 = 2,341 ms, so with the pause a silent node is suspected after at most 5,341 ms,
 * whatever came before. While the window still has its two first samples, 250 ms below and above
 * `firstEstimateMs`, the bound is 5,700 ms, after one or two more samples of 1,400 ms. Where `minDeviationMs`
 * is above the deviation, it takes its place: 1,400 + 3,000 + 561 ms at most.
 */
export class PhiDetector {
  readonly #terms: PhiTerms
  readonly #samples: SampleWindow
  #answeredAt: MonotonicMs
  /** How long this process was away since the last answer. */
  #awayMs = 0

  /** The first answer is expected as if the subject had answered now. */
  constructor(terms: PhiTerms, now: MonotonicMs) {
    const { firstEstimateMs, maxSamples } = terms
    this.#terms = terms
    this.#samples = new SampleWindow(maxSamples)
    this.#samples.add(firstEstimateMs - firstEstimateMs / 4)
    this.#samples.add(firstEstimateMs + firstEstimateMs / 4)
    this.#answeredAt = now
  }

  /** The subject has answered. An interval in which this process was away says nothing about the subject. */
  answered(now: MonotonicMs): void {
    assert(now >= this.#answeredAt, "time went back")
    if (this.#awayMs === 0) {
      const { intervalMs } = this.#terms
      const interval = now - this.#answeredAt
      this.#samples.add(Math.min(Math.max(interval, intervalMs), intervalMs * MOST_INTERVALS))
    }
    this.#answeredAt = now
    this.#awayMs = 0
  }

  /** This process was away until now, which does not count as silence of the subject. */
  away(from: MonotonicMs, now: MonotonicMs): void {
    assert(from <= now, "time went back")
    this.#awayMs += Math.max(0, now - Math.max(from, this.#answeredAt))
  }

  /** Returns -log10 of the probability that the next answer comes later than now. */
  phi(now: MonotonicMs): number {
    assert(now >= this.#answeredAt, "time went back")
    const { acceptablePauseMs, minDeviationMs } = this.#terms
    const silentMs = Math.max(0, now - this.#answeredAt - this.#awayMs)
    const deviation = Math.max(this.#samples.deviation, minDeviationMs)
    return phiOf((silentMs - this.#samples.mean - acceptablePauseMs) / deviation)
  }
}

/** How one node judges the silence of another. */
export interface PhiTerms {
  /** How often the subject is pinged. */
  readonly intervalMs: number
  /** How many intervals the estimate is made from; at least 2. */
  readonly maxSamples: number
  /** The minimum of the deviation. */
  readonly minDeviationMs: number
  /** How much longer than usual a silence may be without being suspicious. */
  readonly acceptablePauseMs: number
  /** The mean before the first answer, at least `intervalMs`. */
  readonly firstEstimateMs: number
}

/** The most that an interval may count as, in intervals of pings. */
const MOST_INTERVALS = 1.4

/** Returns -log10 of the probability that a normal value is more than y deviations above its mean. */
function phiOf(y: number): number {
  const x = y / Math.SQRT2
  const log = x < 0 ? Math.log1p(-erfc(-x) / 2) : logErfc(x) - Math.LN2
  return -log / Math.LN10
}

/**
 * The last samples. Their sums are kept as they come and go. They are whole numbers of milliseconds, counted
 * from the first sample, so that the sums are exact: they do not drift, however many samples have passed.
 */
class SampleWindow {
  readonly #most: number
  readonly #samples: number[] = []
  #oldest = 0
  #base = 0
  #sum = 0
  #squares = 0

  constructor(most: number) {
    assert(most >= 2, "a window has fewer than two samples")
    this.#most = most
  }

  add(ms: number): void {
    if (this.#samples.length === 0) this.#base = Math.round(ms)
    const sample = Math.round(ms) - this.#base
    this.#sum += sample
    this.#squares += sample * sample
    if (this.#samples.length < this.#most) {
      this.#samples.push(sample)
      return
    }
    const oldest = this.#samples[this.#oldest] as number
    this.#sum -= oldest
    this.#squares -= oldest * oldest
    this.#samples[this.#oldest] = sample
    this.#oldest = (this.#oldest + 1) % this.#most
  }

  get mean(): number {
    return this.#base + this.#sum / this.#samples.length
  }

  get deviation(): number {
    const { length } = this.#samples
    const mean = this.#sum / length
    return Math.sqrt(Math.max(0, this.#squares / length - mean * mean))
  }
}

/**
 * A distribution of durations over fixed buckets. The bounds are the same on all nodes and in all versions,
 * so that distributions can be added up; they are a factor of at most 2.5 apart, which is enough to see that
 * something has become slow.
 */
export class LatencyBuckets {
  readonly #counts: number[] = LATENCY_BOUNDS_MS.map(() => 0).concat(0)

  /** The number of durations up to each bound and above the one before, and of those above the last. */
  get counts(): readonly number[] {
    return this.#counts
  }

  record(ms: number): void {
    let at = 0
    while (at < LATENCY_BOUNDS_MS.length && ms > (LATENCY_BOUNDS_MS[at] as number)) at += 1
    this.#counts[at] = (this.#counts[at] as number) + 1
  }
}

/** The upper bounds of the buckets. */
export const LATENCY_BOUNDS_MS: readonly number[] = [
  0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000,
]

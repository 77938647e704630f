import type { Latency } from "./row.js"

/** The middle of the values; of an even number of them, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle]
  if (upper === undefined) throw new Error("there is no median of nothing")
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}

/** The percentiles of single operations' times: each is a time that was measured, none is interpolated. */
export function latencyOf(timesUs: Iterable<number>): Latency {
  const sorted = Float64Array.from(timesUs).sort()
  return { p50Us: nearestRank(sorted, 0.5), p99Us: nearestRank(sorted, 0.99) }
}

function nearestRank(sorted: Float64Array, share: number): number {
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
  if (value === undefined) throw new Error("there is no percentile of nothing")
  return value
}

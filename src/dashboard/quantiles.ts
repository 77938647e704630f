import type { LatencySnapshot } from "../system/snapshot.js"
import type { Quantiles } from "./view.js"

/**
 * The quantiles of a distribution, which is interpolated within a bucket; undefined if it is empty. Of what
 * is above the last bound nothing is known but that bound.
 */
export function quantilesOf(times: LatencySnapshot | undefined): Quantiles | undefined {
  if (times === undefined) return undefined
  const total = times.counts.reduce((sum, count) => sum + count, 0)
  return total === 0 ? undefined : { p50: quantile(times, total * 0.5), p99: quantile(times, total * 0.99) }
}

function quantile({ boundsMs, counts }: LatencySnapshot, rank: number): number {
  let before = 0
  for (const [at, upper] of boundsMs.entries()) {
    const count = counts[at] ?? 0
    if (count > 0 && before + count >= rank) {
      const lower = boundsMs[at - 1] ?? 0
      return lower + ((upper - lower) * (rank - before)) / count
    }
    before += count
  }
  return boundsMs.at(-1) ?? 0
}

/** What was added since `before`. The two are of one system, so the counts of the later are not lower. */
export function since(now: LatencySnapshot | undefined, before: LatencySnapshot | undefined) {
  if (now === undefined || before === undefined) return now
  const counts = now.counts.map((count, at) => Math.max(0, count - (before.counts[at] ?? 0)))
  return { boundsMs: now.boundsMs, counts }
}

/** The sum of distributions; those that have other bounds than the first one are left out. */
export function sum(all: readonly (LatencySnapshot | undefined)[]): LatencySnapshot | undefined {
  let total: LatencySnapshot | undefined
  for (const one of all) {
    if (one === undefined) continue
    if (total === undefined) total = one
    else if (String(total.boundsMs) === String(one.boundsMs)) {
      const counts = total.counts.map((count, at) => count + (one.counts[at] ?? 0))
      total = { boundsMs: total.boundsMs, counts }
    }
  }
  return total
}

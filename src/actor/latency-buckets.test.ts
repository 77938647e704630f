import { expect, test } from "vitest"
import { LATENCY_BOUNDS_MS, LatencyBuckets } from "./latency-buckets.js"

test("a duration counts in the first bucket whose bound it does not exceed", () => {
  const buckets = new LatencyBuckets()
  for (const ms of [0, 0.05, 0.051, 1, 1.5, 30_000, 30_001]) buckets.record(ms)
  const counted = buckets.counts.flatMap((count, at) => (count === 0 ? [] : [[LATENCY_BOUNDS_MS[at], count]]))
  expect(counted).toEqual([
    [0.05, 2],
    [0.1, 1],
    [1, 1],
    [2.5, 1],
    [30_000, 1],
    [undefined, 1],
  ])
})

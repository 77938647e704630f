import { expect, test } from "vitest"
import { quantilesOf, since, sum } from "./quantiles.js"

const boundsMs = [1, 10, 100]

test("a quantile is interpolated within its bucket", () => {
  expect(quantilesOf({ boundsMs, counts: [0, 100, 0, 0] })).toEqual({ p50: 5.5, p99: 9.91 })
  expect(quantilesOf({ boundsMs, counts: [99, 0, 1, 0] })).toEqual({ p50: 50 / 99, p99: 1 })
  expect(quantilesOf({ boundsMs, counts: [0, 0, 0, 5] })).toEqual({ p50: 100, p99: 100 })
})

test("an empty distribution has no quantiles", () => {
  expect([quantilesOf(undefined), quantilesOf({ boundsMs, counts: [0, 0, 0, 0] })]).toEqual([
    undefined,
    undefined,
  ])
})

test("distributions are subtracted and added bucket by bucket", () => {
  const [a, b] = [
    { boundsMs, counts: [1, 2, 3, 4] },
    { boundsMs, counts: [2, 2, 5, 4] },
  ]
  expect(since(b, a)?.counts).toEqual([1, 0, 2, 0])
  expect(since(b, undefined)).toBe(b)
  expect(sum([a, undefined, b])?.counts).toEqual([3, 4, 8, 8])
  expect(sum([a, { boundsMs: [5], counts: [1, 1] }])?.counts).toEqual(a.counts)
})

import { describe, expect, it } from "vitest"
import { latencyOf, median } from "./quantile.js"

describe("the median", () => {
  it("is the middle one, by size and not by text", () => {
    expect(median([100, 9, 20])).toBe(20)
  })

  it("lies between the two in the middle", () => {
    expect(median([4, 1, 3, 2])).toBe(2.5)
  })

  it("leaves its values as they were", () => {
    const values = [3, 1, 2]
    median(values)
    expect(values).toEqual([3, 1, 2])
  })

  it("is not made up for nothing", () => {
    expect(() => median([])).toThrow("no median")
  })
})

describe("latency", () => {
  it("takes percentiles that were measured", () => {
    const times = Array.from({ length: 200 }, (_, index) => 200 - index)
    expect(latencyOf(times)).toEqual({ p50Us: 100, p99Us: 198 })
    expect(latencyOf([7])).toEqual({ p50Us: 7, p99Us: 7 })
  })
})

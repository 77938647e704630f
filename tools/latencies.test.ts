import { describe, expect, it } from "vitest"
import { Latencies, Timings } from "./latencies.js"

describe("latencies", () => {
  it("are right within one percent, however many there are, and the longest is exact", () => {
    const latencies = new Latencies()
    expect(latencies.quantile(0.5)).toBeUndefined()
    for (let ms = 1; ms <= 1_000; ms += 1) latencies.add(ms)
    expect(latencies.count).toBe(1_000)
    for (const share of [0.5, 0.99]) {
      const found = latencies.quantile(share) as number
      expect(found / (share * 1_000)).toBeGreaterThanOrEqual(1)
      expect(found / (share * 1_000)).toBeLessThan(1.012)
    }
    expect(latencies.quantile(1)).toBe(1_000)
  })

  it("take what is out of their range for its end", () => {
    const latencies = new Latencies()
    latencies.add(0)
    expect(latencies.quantile(0.5)).toBeLessThan(0.02)
    latencies.add(1e12)
    expect(latencies.quantile(0.99)).toBeGreaterThan(3_600_000)
  })
})

describe("timings", () => {
  it("are all that were added, and those since they were taken last", () => {
    const timings = new Timings()
    timings.add(1)
    timings.add(2)
    expect([timings.all.count, timings.takeRecent().count, timings.takeRecent().count]).toEqual([2, 2, 0])
  })
})

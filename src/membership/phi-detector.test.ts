import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { PhiDetector, type PhiTerms } from "./phi-detector.js"

const terms: PhiTerms = {
  intervalMs: 1_000,
  maxSamples: 200,
  minDeviationMs: 100,
  acceptablePauseMs: 3_000,
  firstEstimateMs: 1_000,
}

describe("phi", () => {
  it("is -log10 of the tail of the normal distribution", () => {
    // Before any answer the mean is 1,000 and the deviation 250.
    const phi = new PhiDetector(terms, 0)
    for (const [expected, deviations] of quantiles) {
      const found = phi.phi(4_000 + 250 * deviations)
      expect(Math.abs(found / expected - 1), `phi ${expected}`).toBeLessThan(1e-11)
    }
  })

  it("begins at almost nothing, and is finite and grows for ever", () => {
    const phi = new PhiDetector(terms, 0)
    expect(phi.phi(0)).toBeLessThan(1e-50)
    let before = phi.phi(1_000)
    for (let now = 1_010; now < 100_000; now += 10) {
      const next = phi.phi(now)
      expect(next).toBeGreaterThan(before)
      before = next
    }
    expect(phi.phi(1e12)).toBeLessThan(Number.POSITIVE_INFINITY)
    expect(phi.phi(1e12)).toBeGreaterThan(phi.phi(1e11))
  })

  it("has the mean and the deviation of the last intervals, within their bounds", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(6_000), { maxLength: 60 }), (intervals) => {
        const few = { ...terms, maxSamples: 20, minDeviationMs: 1 }
        const phi = new PhiDetector(few, 0)
        let now = 0
        for (const interval of intervals) {
          now += interval
          phi.answered(now)
        }
        const bounded = intervals.map((interval) => Math.min(Math.max(interval, 1_000), 1_400))
        const window = [750, 1_250, ...bounded].slice(-20)
        const mean = window.reduce((sum, each) => sum + each, 0) / window.length
        const variance = window.reduce((sum, each) => sum + (each - mean) ** 2, 0) / window.length
        const deviation = Math.max(Math.sqrt(variance), 1)
        expect(phi.phi(now + mean + 3_000 + deviation)).toBeCloseTo(0.7995455, 6)
        expect(phi.phi(now + mean + 3_000 - deviation)).toBeCloseTo(0.075026, 6)
      }),
      { numRuns: 300 },
    )
  })

  it("does not drift: after a million intervals a calm window is calm", () => {
    const phi = new PhiDetector(terms, 0)
    let now = 0
    for (let nth = 0; nth < 1_000_000; nth++) {
      now += 1_000 + ((nth * 7_919) % 401) / 3
      phi.answered(now)
    }
    for (let nth = 0; nth < 200; nth++) {
      now += 1_000
      phi.answered(now)
    }
    // The mean is 1,000 and the deviation 100, exactly.
    expect(phi.phi(now + 4_000)).toBe(new PhiDetector(terms, 0).phi(4_000))
    expect(phi.phi(now + 4_100)).toBe(new PhiDetector(terms, 0).phi(4_250))
  })

  it("does not count as silence the time in which this process was away, nor as an interval", () => {
    const phi = new PhiDetector(terms, 0)
    const other = new PhiDetector(terms, 0)
    phi.away(1_000, 4_000)
    expect(phi.phi(8_000)).toBe(other.phi(5_000))
    phi.answered(9_000)
    // No sample was added, so the deviation is still the first estimate.
    expect(phi.phi(9_000 + 5_000)).toBe(other.phi(5_000))
    phi.answered(10_000)
    expect(phi.phi(10_000 + 5_000)).not.toBe(other.phi(5_000))
  })

  it("reaches 8 within 6 seconds, and not within 4.5, whatever the intervals were", () => {
    const interval = fc.oneof(fc.nat(10_000), fc.constantFrom(0, 999, 1_000, 1_400, 4_000, 1e9))
    const runs = fc.array(fc.tuple(interval, fc.integer({ min: 1, max: 120 })), { maxLength: 8 })
    fc.assert(
      fc.property(runs, (some) => {
        const phi = new PhiDetector(terms, 0)
        let now = 0
        for (const [each, times] of some) {
          for (let nth = 0; nth < times; nth++) {
            now += each
            phi.answered(now)
          }
        }
        expect(phi.phi(now + 4_560)).toBeLessThan(8)
        expect(phi.phi(now + 5_700)).toBeGreaterThan(8)
      }),
      { numRuns: 500 },
    )
  })

  it("takes longest for a window with 59 % of long intervals, as the bound says", () => {
    const silences = Array.from({ length: 201 }, (_, long) => {
      const phi = new PhiDetector(terms, 0)
      let now = 0
      for (let nth = 0; nth < 200; nth++) {
        now += nth < long ? 4_000 : 1_000
        phi.answered(now)
      }
      let silence = 4_000
      while (phi.phi(now + silence) < 8) silence++
      return silence
    })
    expect(Math.max(...silences)).toBe(5_341)
    expect(Math.min(...silences)).toBe(4_562)
    expect(silences.indexOf(5_341) / 200).toBeCloseTo(0.588, 1)
  })
})

/** Values of phi, and how many deviations above the mean each is reached, computed with 50 digits. */
const quantiles: readonly (readonly [number, number])[] = [
  [0.1, -0.8215316028830921],
  [0.3, -0.002975957771382295],
  [0.5, 0.47827353237616266],
  [1, 1.2815515655446004],
  [1.5, 1.8574612929324572],
  [2, 2.326347874040841],
  [3, 3.0902323061678136],
  [4, 3.7190164854556804],
  [5, 4.264890793922825],
  [6, 4.753424308822899],
  [7, 5.1993375821928165],
  [8, 5.612001244174789],
  [9, 5.9978070150076865],
  [10, 6.361340902404057],
  [12, 7.034483825301132],
  [15, 7.941345326170997],
  [20, 9.262340089798407],
  [30, 11.464024688443615],
  [50, 14.933337534788489],
  [75, 18.377208319607927],
  [100, 21.273453560965326],
  [150, 26.122961190593983],
  [200, 30.20559417957964],
  [250, 33.79958617269484],
  [300, 37.0470962993612],
]

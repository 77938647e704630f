import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { VectorClock } from "./vector-clock.js"

const NODES = ["a", "b", "c"]
const clocks = fc
  .array(fc.tuple(fc.constantFrom(...NODES), fc.nat(3)), { maxLength: 4 })
  .map((versions) => new VectorClock(versions))

describe("a vector clock", () => {
  it("is before the clock that has more, and after the clock that has less", () => {
    fc.assert(
      fc.property(clocks, fc.constantFrom(...NODES), (clock, node) => {
        const next = clock.increment(node)
        expect(next.of(node)).toBe(clock.of(node) + 1)
        expect(clock.compare(next)).toBe("before")
        expect(next.compare(clock)).toBe("after")
        expect(clock.compare(clock)).toBe("same")
      }),
    )
  })

  it("compares as the versions of all nodes do", () => {
    fc.assert(
      fc.property(clocks, clocks, (one, other) => {
        const isBehind = NODES.some((node) => one.of(node) < other.of(node))
        const isAhead = NODES.some((node) => one.of(node) > other.of(node))
        const expected = isBehind ? (isAhead ? "concurrent" : "before") : isAhead ? "after" : "same"
        expect(one.compare(other)).toBe(expected)
      }),
    )
  })

  it("knows after a merge what either of the two knew, and no more", () => {
    fc.assert(
      fc.property(clocks, clocks, (one, other) => {
        const merged = one.merge(other)
        for (const node of NODES) expect(merged.of(node)).toBe(Math.max(one.of(node), other.of(node)))
        expect(other.merge(one).compare(merged)).toBe("same")
      }),
    )
  })

  it("takes a node that is not named for one without words", () => {
    expect(new VectorClock([["a", 0]]).compare(new VectorClock([]))).toBe("same")
  })
})

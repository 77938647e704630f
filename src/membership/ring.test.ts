import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Ring } from "./ring.js"

const nodes = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 30 })

describe("the ring", () => {
  it("is the same for nodes in any order", () => {
    fc.assert(
      fc.property(nodes, fc.nat(12), (some, count) => {
        const ring = new Ring(some)
        const reversed = new Ring([...some].reverse())
        for (const node of some) expect(reversed.after(node, count)).toEqual(ring.after(node, count))
      }),
    )
  })

  it("has each node observed by as many as it observes, and by all where there are few", () => {
    fc.assert(
      fc.property(nodes, fc.nat(12), (some, count) => {
        const ring = new Ring(some)
        for (const node of some) {
          const observers = ring.before(node, count)
          expect(new Set(observers).size).toBe(Math.min(count, some.length - 1))
          expect(observers).not.toContain(node)
          for (const observer of observers) expect(ring.after(observer, count)).toContain(node)
        }
      }),
    )
  })

  it("has no neighbours for a stranger", () => {
    expect(new Ring(["a", "b"]).after("c", 5)).toEqual([])
    expect(new Ring([]).before("c", 5)).toEqual([])
  })

  it("does not seat the nodes of one host together", () => {
    const ids = Array.from({ length: 40 }, (_, nth) => `10.0.0.${nth < 20 ? 1 : 2}:${2_000 + nth}#${nth}`)
    const ring = new Ring(ids)
    const alike = ids.filter((id) => ring.after(id, 1)[0]?.slice(0, 8) === id.slice(0, 8)).length
    expect(alike).toBeGreaterThan(8)
    expect(alike).toBeLessThan(32)
  })
})

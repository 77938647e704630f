import { describe, expect, it } from "vitest"
import { Failovers } from "./failovers.js"

describe("failovers", () => {
  it("count each actor of a killed node once, from the kill to its return", () => {
    const failovers = new Failovers()
    failovers.killed(["a", "b", "c"])
    failovers.back("a", 100)
    failovers.back("a", 900)
    failovers.back("not killed", 5)
    expect(failovers).toMatchObject({ kills: 1, actors: 1, away: 2 })
    failovers.back("b", 200)
    failovers.back("c", 300)
    expect([0.5, 0.99, 1].map((share) => failovers.quantile(share))).toEqual([200, 300, 300])
  })

  it("have no figures before the first one", () => {
    expect(new Failovers().quantile(0.5)).toBeUndefined()
  })
})

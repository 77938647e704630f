import { describe, expect, it } from "vitest"
import type { DemoResult } from "./demo.js"
import { summary } from "./summary.js"

const result: DemoResult = {
  elapsedMs: 30_500,
  calls: 21_000,
  p50Ms: 4.2,
  p99Ms: 120.4,
  transfers: 10_400,
  retries: { unknown: 81, notDelivered: 2 },
  failovers: { kills: 7, actors: 233, away: 0, p50Ms: 340, p99Ms: 702, longestMs: 1_702 },
  total: 60_000,
  counted: { sum: 60_000, times: 8 },
  accounts: 60,
  problems: [],
}

describe("the summary", () => {
  it("says with numbers what was killed and how long that showed", () => {
    expect(summary(result)).toBe(`\
took        30.50 s
calls       21,000, 689/s, p50 4.2 ms, p99 120 ms
transfers   10,400 acknowledged
tried again 81 calls of unknown outcome, 2 not delivered
killed      7 processes, with kill -9, and 233 actors with them
failover    p50 340 ms, p99 702 ms, longest 1.70 s: from the kill to an actor's first answer
balances    60,000 of 60,000, times counted: 8

all 60 accounts are right: every acknowledged transfer is there, once
`)
  })

  it("ends with what is off, as much as can be read", () => {
    const problems = Array.from({ length: 25 }, (_, index) => `problem ${index + 1}`)
    const text = summary({ ...result, counted: undefined, problems })
    expect(text).toContain("balances    never counted\n\n  problem 1\n")
    expect(text).toMatch(/ {2}problem 20\n {2}and 5 more\n\nsomething is off\n$/)
  })
})

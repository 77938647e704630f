import { describe, expect, it } from "vitest"
import { Latencies } from "../tools/latencies.js"
import { type Figures, line, picture, type ShownNode, summary } from "./view.js"

const figures: Figures = {
  options: { seconds: 30, nodes: 2, accounts: 60, tellers: 16, seed: 1, deathProof: true },
  elapsedMs: 12_345,
  nodes: [
    node({ name: "n1", pid: 4_711, state: "up" }, 23, 0),
    node({ name: "n2", pid: undefined, state: "killed" }, 0, 2),
  ],
  calls: latencies(3.2, 3.2, 1_520),
  callsPerSecond: 1_234.5,
  transfers: 5_000,
  retries: { unknown: 12, "not-delivered": 3 },
  failovers: latencies(120, 120, 120, 1_702),
  away: 7,
  total: 60_000,
  counted: { sum: 60_000, times: 2 },
}

describe("the picture", () => {
  it("has the nodes, the figures, and what happened last", () => {
    const happened = ["first", "second", "third", "fourth", "fifth", "sixth"]
    expect(picture(figures, happened).join("\n")).toBe(`\
Troupe: 60 accounts on 2 nodes, 12 of 30 s

  node  process  state     actors  kills
  n1       4711  up            23      0
  n2          -  killed         0      2

  calls      1,235/s   p50 3.2 ms   p99 1.52 s
  transfers  5,000 acknowledged; tried again: 12 of unknown outcome, 3 not delivered
  failovers  2 kills, 4 actors back, 7 away   p50 120 ms   p99 1.70 s
  balances   60,000 of 60,000, times counted: 2

  second
  third
  fourth
  fifth
  sixth`)
  })

  it("says how to end what has no end, and that nothing was counted or measured yet", () => {
    const early = {
      ...figures,
      options: { ...figures.options, seconds: undefined },
      failovers: latencies(),
      away: 0,
      counted: undefined,
    }
    const text = picture(early, []).join("\n")
    expect(text).toContain("12 s; Ctrl-C ends it\n")
    expect(text).toContain("  failovers  2 kills, 0 actors back   p50 -   p99 -\n")
    expect(text).toContain("  balances   not counted yet\n")
  })
})

describe("the line", () => {
  it("says the same in short", () => {
    const text = "  12.3 s  n1 23 actors, n2 killed; 1,235 calls/s, p50 3.2 ms, p99 1.52 s; kills: 2"
    expect(line(figures)).toBe(`${text}, sum 60,000 of 60,000`)
    expect(line({ ...figures, counted: undefined })).toBe(text)
  })
})

describe("the summary", () => {
  it("says with numbers what was killed and how long that showed", () => {
    expect(summary(figures, [])).toBe(`\
took        12.35 s
calls       3, 1,235/s, p50 3.2 ms, p99 1.52 s
transfers   5,000 acknowledged
tried again 12 calls of unknown outcome, 3 not delivered
killed      2 processes, with kill -9, and 4 actors with them
failover    p50 120 ms, p99 1.70 s, longest 1.70 s: from the kill to an actor's first answer
balances    60,000 of 60,000, times counted: 2

all 60 accounts are right: every acknowledged transfer is there, once
`)
  })

  it("ends with what is off, as much as can be read", () => {
    const problems = Array.from({ length: 25 }, (_, index) => `problem ${index + 1}`)
    const text = summary({ ...figures, counted: undefined }, problems)
    expect(text).toContain("balances    never counted\n\n  problem 1\n")
    expect(text).toMatch(/ {2}problem 20\n {2}and 5 more\n\nsomething is off\n$/)
  })
})

function latencies(...times: readonly number[]): Latencies {
  const made = new Latencies()
  for (const ms of times) made.add(ms)
  return made
}

function node(process: ShownNode["process"], actors: number, kills: number): ShownNode {
  return { process, hosted: new Map(Array.from({ length: actors }, (_, index) => [`${index}`, 1])), kills }
}

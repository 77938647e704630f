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
  bank: { transfers: 5_000, retries: { unknown: 12, "not-delivered": 3 }, total: 60_000 },
  failovers: latencies(120, 120, 120, 1_702),
  away: 7,
  sum: 60_000,
  audits: 2,
}

const rows = `\
calls      1,235 calls/s, p50 3.2 ms, p99 1.52 s
transfers  5,000 acknowledged
retried    12 calls of unknown outcome, 3 not delivered
killed     2 processes, with kill -9; 4 actors are back, 7 are away
failover   p50 120 ms, p99 1.70 s, longest 1.70 s: from the kill to an actor's first answer
balances   60,000 of 60,000, times counted: 2`

describe("the picture", () => {
  it("has the nodes and the figures", () => {
    expect(picture(figures).join("\n")).toBe(`\
Troupe: 60 accounts on 2 nodes, 12 of 30 s

  node  process  state     actors  kills
  n1       4711  up            23      0
  n2          -  killed         0      2

${rows.replace(/^/gm, "  ")}`)
  })

  it("says how to end what has no end, and that nothing was counted or measured yet", () => {
    const options = { ...figures.options, seconds: undefined }
    const text = picture({ ...figures, options, failovers: latencies(), audits: 0 }).join("\n")
    expect(text).toContain("12 s; Ctrl-C ends it\n")
    expect(text).toContain("  failover   p50 -, p99 -, longest -:")
    expect(text).toMatch(/ {2}balances {3}not counted yet$/)
  })
})

describe("the line", () => {
  it("has the main figures", () => {
    const text = "n1 23 actors, n2 killed; 1,235 calls/s, p50 3.2 ms, p99 1.52 s; balances"
    expect(line(figures)).toBe(`${text} 60,000 of 60,000, times counted: 2`)
    expect(line({ ...figures, audits: 0 })).toBe(`${text} not counted yet`)
  })
})

describe("the summary", () => {
  it("ends with the verdict", () => {
    expect(summary(figures, [])).toBe(`\
took       12.35 s
${rows}

all 60 accounts are right: every acknowledged transfer is there, once
`)
  })

  it("ends with what is off, as much as can be read", () => {
    const problems = Array.from({ length: 25 }, (_, index) => `problem ${index + 1}`)
    const text = summary(figures, problems)
    expect(text).toContain("times counted: 2\n\nproblem 1\n")
    expect(text).toMatch(/problem 20\nand 5 more\n\nsomething is off\n$/)
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

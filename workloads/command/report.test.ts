import { describe, expect, it } from "vitest"
import type { FailedSeed, SimulationReport } from "../../src/sim/index.js"
import type { Planting } from "../planted/planting.js"
import { duration, progressText, type RunFacts, reportText } from "./report.js"

const report: SimulationReport = {
  workload: "bank",
  seeds: 1_200,
  failures: [],
  problems: [],
  steps: 1_234_567,
  virtualMs: 5_400_000,
  operations: 98_765,
  faults: new Map([
    ["pause", 1_040],
    ["crash", 7],
  ]),
  sometimes: new Map([
    ["the store refuses", 0],
    ["an owner changes", 31],
  ]),
  always: new Map([["an answer is right", 12]]),
  invariants: new Map([
    ["money stays", 40_000],
    ["acknowledged writes stay", 900],
  ]),
}

const facts: RunFacts = {
  about: "moves money",
  planting: undefined,
  from: 1,
  asked: 1_200,
  elapsedMs: 10_000,
  interrupted: false,
  replay: (seed) => `again ${seed}`,
}

describe("the report", () => {
  it("says what was done and what it covered", () => {
    expect(reportText(report, facts)).toBe(`\
workload    bank, moves money
seeds       1,200 (1 to 1200)
took        10.0 s, 120 seeds/s
steps       1,234,567
simulated   1.5 h, 540 times as fast as real time
operations  98,765
failures    0

faults
      7  crash
  1,040  pause

sometimes, how often each was reached
     31  an owner changes
  never  the store refuses

always, how often each was asserted
     12  an answer is right

invariants, how often each was evaluated
  40,000  money stays
     900  acknowledged writes stay

1,200 seeds held
`)
  })

  it("says which bug is planted in what was run", () => {
    const planting: Planting = {
      name: "kept-change",
      about: "rounds down",
      breaks: "money stays",
      workload: "bank",
      file: "src/bank/teller.ts",
      from: "x",
      to: "y",
    }
    const [, second] = reportText(report, { ...facts, planting }).split("\n")
    expect(second).toBe("planted     kept-change, rounds down (src/bank/teller.ts)")
  })

  it("ends with the problems, and the failures in the order of their seeds", () => {
    const failures = [
      failed(30, "money stays", "money stays: 5 are missing", ["      10 a crash", "      12 b told"]),
      failed(4, "uncaught", "Error: oh\n    at here"),
    ]
    expect(ending({ failures, problems: ["never reached: the store refuses"] })).toBe(`\
problems
  never reached: the store refuses

seed 4 failed: uncaught
  Error: oh
      at here
  at bank.ts:4
  replay: again 4

seed 30 failed: money stays
  5 are missing
  at bank.ts:30
  the last events:
          10 a crash
          12 b told
  replay: again 30

2 of 1,200 seeds failed, 1 problem
`)
  })

  it("shows five failures in full, and names the seeds of the others by what broke", () => {
    const failures = Array.from({ length: 60 }, (_, at) =>
      failed(at + 1, at === 58 ? "hung" : "deadlock", "x"),
    )
    const text = ending({ failures })
    expect(text.match(/replay: /g)).toHaveLength(5)
    const named = Array.from({ length: 50 }, (_, at) => at + 6).join(", ")
    expect(text).toContain(
      `55 more failed\n  deadlock: ${named} and 4 more\n  hung: 59\n\n60 of 1,200 seeds failed`,
    )
  })

  it("does not hold it against a run that was cut short that it reached little", () => {
    const cut = { ...facts, interrupted: true, asked: 5_000 }
    const text = reportText({ ...report, problems: ["never reached: the store refuses"] }, cut)
    expect(text).toContain("seeds       1,200 of 5,000 (1 to 5000)\n")
    expect(text).not.toContain("problem")
    expect(text).toMatch(/\ninterrupted: 1,200 seeds held\n$/)
  })
})

describe("progress", () => {
  it("is one line", () => {
    expect(progressText(report, 5_000, 10_000)).toBe(
      "1,200 of 5,000 seeds, 120/s, none failed, 1.5 h simulated",
    )
    expect(progressText({ ...report, seeds: 0, failures: [failed(1, "x", "x")] }, 1, 0)).toBe(
      "0 of 1 seeds, 0/s, 1 failed, 1.5 h simulated",
    )
  })
})

it.each([
  [0, "0 ms"],
  [12.4, "12 ms"],
  [1_000, "1.0 s"],
  [90_000, "1.5 min"],
  [86_400_000, "1.0 days"],
])("%d ms is %s", (ms, text) => {
  expect(duration(ms)).toBe(text)
})

function failed(seed: number, what: string, detail: string, tail: readonly string[] = []): FailedSeed {
  return { seed, failure: { what, detail, at: `bank.ts:${seed}` }, tail }
}

/** What comes after the counts. */
function ending(changes: Partial<SimulationReport>): string {
  return reportText({ ...report, ...changes }, facts).split("acknowledged writes stay\n\n")[1] ?? ""
}

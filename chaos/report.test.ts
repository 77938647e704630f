import { describe, expect, it } from "vitest"
import { Latencies } from "../tools/latencies.js"
import type { ChaosResult } from "./chaos.js"
import type { ChaosOptions } from "./command-line.js"
import { faultKinds } from "./fault.js"
import { problemsOf, report } from "./report.js"

const options: ChaosOptions = {
  store: "sqlite",
  durationMs: 60_000,
  seed: 7,
  nodes: 4,
  faults: faultKinds,
  unfenced: false,
  forgetful: false,
  namespaces: false,
}

const result: ChaosResult = {
  elapsedMs: 61_234,
  faults: new Map([
    ["kill", 3],
    ["late-save", 12],
  ]),
  skipped: 1,
  outcomes: { ok: 12_345, failed: 2, unknown: 30, reasons: new Map([["Timeout, unknown", 30]]) },
  takeovers: 91,
  moves: 26,
  failovers: { killed: latenciesOf(12, 40), frozen: new Latencies() },
  fenced: 5,
  rejoined: 5,
  lateCommitted: 4,
  lateRefused: 8,
  accounts: {
    acknowledged: 3_000,
    refused: 2,
    unknown: 5,
    applied: 3_004,
    repeated: 60,
    answeredAgain: 200,
    sent: 900,
    received: 900,
  },
  alarms: {
    acknowledged: 500,
    refused: 1,
    unknown: 1,
    applied: 500,
    repeated: 20,
    answeredAgain: 10,
    set: 400,
    cancelled: 100,
    fired: 1_500,
    missed: 12,
    lateness: latenciesOf(3, 5, 2_000),
  },
  judgements: [
    { subject: "register", actors: 78, operations: 6_000, problems: [] },
    { subject: "counter", actors: 78, operations: 6_377, problems: [] },
    { subject: "account", actors: 156, operations: 3_007, problems: [] },
    { subject: "alarm", actors: 78, operations: 502, problems: [] },
  ],
  generationsChecked: 12_345,
  problems: [],
}

describe("the report", () => {
  it("says what was done, what came of it, and that all held", () => {
    expect(report(result, options, "/tmp/history.jsonl")).toBe(`\
store                 sqlite
seed                  7
took                  61.2 s with 4 nodes
faults                15, and 1 that found its node unwell
  kill                3
  late-save           12
operations            12,377
  answered            12,345
  failed              2, known not to have happened
  unknown             30
    Timeout, unknown  30
applied once          3,500 acknowledged, 3,504 applied
  repeated            80 by their clients until answered, 210 after that
  refused             3, known not to have happened
  unknown             6, given up by their clients
messages              900 sent, 900 applied
reminders             400 set, 100 cancelled
  fired               1,500, and 12 reported as missed
  late                p50 5.0 ms, p99 2.00 s, max 2.00 s
takeovers             91, and 26 moves that were planned
failover, killed      p50 12 ms, p99 40 ms, of 2 actors
failover, frozen      none
fenced                5 times a node lost its lease, and came back 5 times
late saves            8 refused by the store, 4 made
checked               6,000 operations on 78 registers, 6,377 operations on 78 counters, 3,007 operations on 156 accounts, 502 operations on 78 alarms; 12,345 generations
history               /tmp/history.jsonl

all held: linearizable, nothing acknowledged was lost, nothing was applied twice, and every reminder fired
`)
  })

  it("ends with what is wrong", () => {
    const text = report({ ...result, problems: ["first\nsecond"] }, { ...options, unfenced: true }, "x")
    expect(text).toMatch(/^store +sqlite, and saves are not fenced\n/)
    const forgetful = report(result, { ...options, forgetful: true }, "x")
    expect(forgetful).toMatch(/^store +sqlite, and saves lose what is beside the state\n/)
    expect(text).toMatch(/\n\n {2}first\n {2}second\n\nsomething is wrong\n$/)
  })

  it("does not take it for a good sign that nothing happened", () => {
    const nothing: ChaosResult = {
      ...result,
      faults: new Map(),
      outcomes: { ok: 0, failed: 2, unknown: 0, reasons: new Map() },
      accounts: { ...result.accounts, acknowledged: 0, received: 0 },
      alarms: { ...result.alarms, fired: 0 },
      judgements: [{ subject: "register", actors: 0, operations: 0, problems: [] }],
    }
    expect(problemsOf(nothing)).toEqual([
      "no call was answered",
      "no fault was made",
      "no operation was acknowledged",
      "no message was received",
      "no reminder fired",
      "nothing was asked of any register",
    ])
  })
})

function latenciesOf(...ms: readonly number[]): Latencies {
  const latencies = new Latencies()
  for (const each of ms) latencies.add(each)
  return latencies
}

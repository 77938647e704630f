import { describe, expect, it } from "vitest"
import type { AlarmEntry, Plan } from "./alarm-actor.js"
import { isOverdue, judgeAlarms } from "./alarm-judgement.js"
import type { AlarmInput } from "./once-subject.js"
import { OperationLog } from "./operation-log.js"

const AT_2: Plan = { kind: "once", afterMs: 2_000 }
const LATEST: Plan = { kind: "every", everyMs: 1_000, missed: "latest" }
const ALL: Plan = { kind: "every", everyMs: 1_000, missed: "all" }

describe("what alarms have written down", () => {
  it("is each occurrence once, or a count of those that were missed", () => {
    const { operations, problems, figures } = judged(
      [
        set("tea", AT_2, 2_000),
        set("mail", LATEST, 10),
        set("bell", ALL, 10),
        set("late", AT_2, 9_000),
        set("never", LATEST, 10),
        cancelled("never"),
        fired("mail", 1_005),
        fired("bell", 1_008),
        fired("tea", 2_000, 0, 2_300),
        fired("mail", 4_005, 2),
        fired("bell", 2_008, 0, 4_500),
        fired("bell", 3_008, 0, 4_500),
        fired("bell", 4_008, 0, 4_500),
        cancelled("tea"),
      ],
      5_000,
    )
    expect(operations).toBe(7)
    expect(problems).toEqual([])
    expect(figures).toMatchObject({ set: 5, cancelled: 2, fired: 7, missed: 2, acknowledged: 7, applied: 7 })
    expect(figures.lateness.quantile(1)).toBe(2_492)
  })

  it("is wrong, if an occurrence was skipped", () => {
    const all = [set("tea", AT_2, 2_000), set("mail", LATEST, 10), set("bell", ALL, 10), fired("bell", 1_005)]
    expect(judged(all, 1_500).problems).toEqual(["mail@1010 of alarm k has not fired by 1500"])
    expect(isOverdue({ entries: all }, 1_500)).toBe(true)
    expect(isOverdue({ entries: all }, 1_000)).toBe(false)
    expect(judged(all, 2_500).problems).toEqual([
      "tea@2000 of alarm k has not fired by 2500",
      "mail@1010 of alarm k has not fired by 2500",
      "bell@2005 of alarm k has not fired by 2500",
    ])
  })

  it("is wrong, if occurrences were left out and not reported", () => {
    const { problems } = judged([
      set("mail", LATEST, 10),
      set("bell", ALL, 10),
      set("tea", AT_2, 2_000),
      fired("mail", 2_005),
      fired("mail", 5_005, 1),
      fired("bell", 1_005),
      fired("bell", 3_005, 1),
      fired("tea", 2_001),
    ])
    expect(problems).toEqual([
      "mail@2005 of alarm k has fired with 0 missed after 10, and is for every 1000 ms",
      "mail@5005 of alarm k has fired with 1 missed after 2005, and is for every 1000 ms",
      "bell@3005 of alarm k has fired with 1 missed, and all are to run",
      "tea@2001 of alarm k has fired with 0 missed, and is for 2000",
    ])
  })

  it("is wrong, if an occurrence has fired twice", () => {
    const { problems } = judged([
      set("tea", AT_2, 2_000),
      set("mail", LATEST, 10),
      fired("tea", 2_000),
      fired("mail", 1_005),
      fired("tea", 2_000),
      fired("mail", 2_005),
      fired("mail", 1_005),
      fired("tea", 2_500),
    ])
    expect(problems).toEqual([
      "tea@2000 of alarm k has fired again, after that of 2000",
      "mail@1005 of alarm k has fired again, after that of 2005",
      "tea@2500 of alarm k has fired after that of 2000, and is for one time",
    ])
  })

  it("is wrong, if one has fired before its time, after it was cancelled, or without being set", () => {
    const { problems } = judged([
      set("tea", AT_2, 2_000),
      set("mail", LATEST, 10),
      fired("tea", 2_000, 0, 1_900),
      cancelled("mail"),
      fired("mail", 1_005),
      fired("bell", 1_005),
    ])
    expect(problems).toEqual([
      "tea@2000 of alarm k has fired before its time, at 1900",
      "mail@1005 of alarm k has fired after it was cancelled",
      "bell@1005 of alarm k has fired, and was not set",
    ])
  })

  it("is wrong, if what was acknowledged is not there, or is there twice", () => {
    const log = new OperationLog<AlarmInput, number>("a", () => 0)
    for (const name of ["tea", "mail"]) {
      const operation = log.begun({ client: "c1", key: "k", input: { kind: "cancel", name }, isNamed: true })
      log.answered(operation, 1)
    }
    const entry: AlarmEntry = { kind: "cancelled", operation: "a1", name: "tea" }
    const { problems } = judgeAlarms(log.operations, new Map([["k", { entries: [entry, entry] }]]), 0)
    expect(problems).toEqual([
      "operation a1 of alarm k, by c1, was applied 2 times, at 1 and 2",
      "operation a2 of alarm k, by c1, was acknowledged, and was not applied",
    ])
  })
})

/** Judges one alarm, all of whose operations were acknowledged as they were made. */
function judged(entries: readonly AlarmEntry[], dueBy = 0) {
  const log = new OperationLog<AlarmInput, number>("a", () => 0)
  const written = entries.map((entry, index): AlarmEntry => {
    if (entry.kind === "fired") return entry
    const { name } = entry
    const input: AlarmInput =
      entry.kind === "set" ? { kind: "set", name, plan: entry.plan } : { kind: "cancel", name }
    const operation = log.begun({ client: "c1", key: "k", input, isNamed: false })
    log.answered(operation, index + 1)
    return { ...entry, operation: operation.id }
  })
  const judgement = judgeAlarms(log.operations, new Map([["k", { entries: written }]]), dueBy)
  return { operations: log.operations.length, ...judgement }
}

function set(name: string, plan: Plan, at: number): AlarmEntry {
  return { kind: "set", operation: "", name, plan, at }
}

function cancelled(name: string): AlarmEntry {
  return { kind: "cancelled", operation: "", name }
}

function fired(name: string, at: number, missed = 0, firedAt = at): AlarmEntry {
  return { kind: "fired", name, at, missed, firedAt }
}

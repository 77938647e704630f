import { expect, test } from "vitest"
import { dueOccurrence, NO_ARREARS, nextTime, type Schedule, timetableOf } from "./schedule.js"

const NOW = Date.parse("2026-03-01T12:00:00Z")
const text = (at: number | undefined) => (at === undefined ? "none" : new Date(at).toISOString().slice(0, 16))

/** The first occurrences of a schedule that is set at a time. */
function occurrences(schedule: Schedule, from: string, count: number): readonly string[] {
  const { timetable, first } = timetableOf(schedule, Date.parse(from))
  const found = [first]
  while (found.length < count) {
    const next = nextTime(timetable, found.at(-1) as number)
    if (next === undefined) break
    found.push(next)
  }
  return found.map(text)
}

test("fires once, or at regular intervals", () => {
  expect(occurrences({ at: new Date(NOW) }, "2026-01-01T00:00Z", 3)).toEqual(["2026-03-01T12:00"])
  expect(occurrences({ afterMs: 60_000 }, "2026-01-01T00:00Z", 3)).toEqual(["2026-01-01T00:01"])
  expect(occurrences({ everyMs: 60_000 }, "2026-01-01T00:00Z", 3)).toEqual([
    "2026-01-01T00:01",
    "2026-01-01T00:02",
    "2026-01-01T00:03",
  ])
})

test("fires by cron fields in a zone", () => {
  expect(occurrences({ cron: "0 9 1 * *", zone: "Europe/Berlin" }, "2026-02-15T00:00Z", 3)).toEqual([
    "2026-03-01T08:00",
    "2026-04-01T07:00",
    "2026-05-01T07:00",
  ])
  expect(occurrences({ cron: "0 9 * * 1" }, "2026-03-01T00:00Z", 2)).toEqual([
    "2026-03-02T09:00",
    "2026-03-09T09:00",
  ])
})

// Each row: the fields, the zone, a time, and the occurrences after it. In Berlin 02:00 to 03:00 is skipped on
// 2027-03-28 at 01:00Z, and comes twice on 2026-10-25, the second time from 01:00Z.
const vectors: readonly (readonly [string, string, string, readonly string[]])[] = [
  ["30 2 * * *", "Europe/Berlin", "2027-03-27T02:00Z", ["2027-03-28T01:00", "2027-03-29T00:30"]],
  ["0 2 * * *", "Europe/Berlin", "2027-03-27T02:00Z", ["2027-03-28T01:00", "2027-03-29T00:00"]],
  ["15,45 2 * * *", "Europe/Berlin", "2027-03-27T02:00Z", ["2027-03-28T01:00", "2027-03-29T00:15"]],
  [
    "15,45 2,3 * * *",
    "Europe/Berlin",
    "2027-03-27T03:00Z",
    ["2027-03-28T01:00", "2027-03-28T01:15", "2027-03-28T01:45", "2027-03-29T00:15"],
  ],
  ["20 * * * *", "Europe/Berlin", "2027-03-28T00:00Z", ["2027-03-28T00:20", "2027-03-28T01:20"]],
  ["30 2 * * *", "America/New_York", "2027-03-13T12:00Z", ["2027-03-14T07:00", "2027-03-15T06:30"]],
  ["15,20 2 * * *", "Australia/Lord_Howe", "2026-10-02T16:00Z", ["2026-10-03T15:30", "2026-10-04T15:15"]],
  ["30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", ["2026-10-25T00:30", "2026-10-26T01:30"]],
  ["15,45 2 * * *", "Europe/Berlin", "2026-10-25T00:20Z", ["2026-10-25T00:45", "2026-10-26T01:15"]],
  ["30 1 * * *", "America/New_York", "2026-10-31T12:00Z", ["2026-11-01T05:30", "2026-11-02T06:30"]],
  [
    "0 * * * *",
    "Europe/Berlin",
    "2026-10-24T23:30Z",
    ["2026-10-25T00:00", "2026-10-25T01:00", "2026-10-25T02:00"],
  ],
]

test.each(vectors)("%s in %s after %s", (cron, zone, from, expected) => {
  expect(occurrences({ cron, zone }, from, expected.length)).toEqual(expected)
})

test("occurrences that were not missed run as they are, however late", () => {
  const { timetable } = timetableOf({ everyMs: 60_000 }, NOW)
  const due = dueOccurrence(timetable, NOW, { now: NOW + 59_999 })
  expect(due).toEqual({ isRun: true, at: NOW, missed: 0, next: NOW + 60_000, arrears: NO_ARREARS })
  expect(dueOccurrence({ kind: "once" }, NOW, { now: NOW + 1e10 })).toMatchObject({ isRun: true, missed: 0 })
})

test("of missed occurrences the latest runs, and says how many there were", () => {
  for (const schedule of [{ everyMs: 60_000 }, { cron: "* * * * *", zone: "Europe/Berlin" }]) {
    const { timetable } = timetableOf(schedule, NOW)
    const due = dueOccurrence(timetable, NOW, { now: NOW + 5 * 60_000 + 1 })
    expect(due).toMatchObject({ isRun: true, at: NOW + 300_000, missed: 5, next: NOW + 360_000 })
  }
})

test("missed occurrences of a cron expression are counted up to 1,000", () => {
  for (const cron of ["* * * * *", "* 0-23 * * *"]) {
    const { timetable } = timetableOf({ cron, zone: "Europe/Berlin" }, NOW)
    const due = dueOccurrence(timetable, NOW, { now: NOW + 100_000 * 60_000 + 1 })
    expect(due).toMatchObject({ at: NOW + 100_000 * 60_000, next: NOW + 100_001 * 60_000 })
    expect(due.missed).toBeGreaterThanOrEqual(1_000)
    expect(due.missed).toBeLessThan(1_010)
  }
})

test("all missed occurrences run, the oldest first, until 1,000 did in a row", () => {
  const { timetable } = timetableOf({ everyMs: 1_000, missed: "all" }, NOW)
  const now = NOW + 5_000_500
  let at = NOW
  let arrears = NO_ARREARS
  for (let run = 0; run < 1_000; run += 1) {
    const due = dueOccurrence(timetable, at, { now, arrears })
    expect(due).toMatchObject({ isRun: true, at, missed: 0, next: at + 1_000 })
    at = due.next as number
    arrears = due.arrears
  }
  const due = dueOccurrence(timetable, at, { now, arrears })
  expect(due).toMatchObject({ isRun: true, at: NOW + 5_000_000, missed: 4_000, arrears: NO_ARREARS })
})

test("no missed occurrence runs, and the next one reports them", () => {
  const { timetable } = timetableOf({ everyMs: 60_000, missed: "none", lateMs: 1_000 }, NOW)
  const late = dueOccurrence(timetable, NOW, { now: NOW + 150_000 })
  expect(late).toMatchObject({ isRun: false, next: NOW + 180_000, arrears: { missed: 3 } })
  const next = dueOccurrence(timetable, NOW + 180_000, { now: NOW + 180_500, arrears: late.arrears })
  expect(next).toMatchObject({ isRun: true, at: NOW + 180_000, missed: 3, arrears: NO_ARREARS })
})

test("refuses schedules that are not one", () => {
  const refused: readonly [unknown, RegExp][] = [
    [{}, /one of at, afterMs, everyMs, cron/],
    [{ at: NOW, afterMs: 1 }, /one of/],
    [{ at: new Date(Number.NaN) }, /from 1970/],
    [{ afterMs: -1 }, /at least 0/],
    [{ everyMs: 999 }, /at least 1000/],
    [{ cron: "0 0 30 2 *" }, /never matches/],
    [{ cron: "61 * * * *" }, /cron is invalid/],
    [{ cron: "0 9 * * *", zone: "Mars/Olympus" }, /zone must be/],
    [{ everyMs: 1_000, missed: "some" }, /"latest", "all" or "none"/],
    [{ afterMs: 1_000, missed: "none" }, /late rather than never/],
  ]
  for (const [schedule, problem] of refused) {
    expect(() => timetableOf(schedule as Schedule, NOW)).toThrow(problem)
  }
})

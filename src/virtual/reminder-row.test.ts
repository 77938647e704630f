import { expect, test } from "vitest"
import { decodeReminder, encodeReminder, type ReminderRow } from "./reminder-row.js"

const row: ReminderRow = {
  name: "Tee 🍵",
  next: 1_893_456_000_000,
  entry: 1_893_456_000_000,
  timetable: { kind: "once" },
  argument: Buffer.from("abc"),
  arrears: { missed: 0, run: 0 },
}

test.each<ReminderRow>([
  row,
  { ...row, argument: Buffer.alloc(0), next: 0, entry: 0 },
  { ...row, entry: 1_893_455_999_000 },
  {
    ...row,
    timetable: { kind: "every", everyMs: 1_500, missed: "all", lateMs: 1 },
    arrears: { missed: 7, run: 999 },
  },
  {
    ...row,
    timetable: { kind: "cron", cron: "0 9 1 * *", zone: "Europe/Berlin", missed: "none", lateMs: 60_000 },
  },
])("a reminder comes back as it was: %j", (one) => {
  expect(decodeReminder(encodeReminder(one))).toEqual(one)
})

test("bytes that end too early are refused", () => {
  expect(() => decodeReminder(encodeReminder(row).subarray(0, 12))).toThrow("unexpected end")
})

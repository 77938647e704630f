import { expect, it } from "vitest"
import { StoreUnavailableError } from "../../errors/store-errors.js"
import { sqliteCodeOf } from "./driver.js"
import { isBusy, isFull, unavailable } from "./problem.js"

/** The same error in the form of each driver. */
const ofNode = (errcode: number) => Object.assign(new Error("said so"), { code: "ERR_SQLITE_ERROR", errcode })
const ofLibsql = (rawCode: number) => Object.assign(new Error("said so"), { code: "SQLITE_X", rawCode })

it.each([
  [
    "no permission",
    3,
    "read-only",
    /may not be used by this process .*; allow its user to read and write the file/,
  ],
  ["a lock", 5, "locked", /is kept locked by another process.*; find out which process has the file open/],
  [
    "a file that may only be read",
    8,
    "read-only",
    /may not be written to by this process .*; allow its user/,
  ],
  ["a folder that may only be read", 8 + 6 * 256, "read-only", /may not be written to by this process/],
  ["a disk that fails", 10 + 4 * 256, "disk", /got an error from the disk or its file system .*; check the/],
  ["damage", 11, "damaged", /is damaged .*; stop all processes that use it, and restore a backup/],
  ["a full disk", 13, "full", /has no room left .*; free some space on its disk/],
  ["a file that cannot be opened", 14, "read-only", /could not be opened .*; check that its folder exists/],
  ["a file that is not a database", 26, "damaged", /is not a SQLite database, or is damaged/],
])("names the file, the problem and the cause, and gives advice for %s", (_, code, problem, says) => {
  for (const cause of [ofNode(code), ofLibsql(code)]) {
    const error = unavailable(cause, "/data/store.db")
    expect(error).toMatchObject({ code: "StoreUnavailable", problem, cause, commitment: "not-committed" })
    expect(error.message).toMatch(says)
    expect(error.message).toMatch(/^the store \/data\/store\.db .* \(SQLite says: said so\); [^.]*$/)
  }
})

it.each([
  ["database is locked", 5],
  ["unable to open database file: /data/store.db", 14],
  ["file is not a database", 26],
  ["no such column: x", undefined],
])("knows an error of Deno without a code by its message: %s", (message, code) => {
  expect(sqliteCodeOf(Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR" }))).toBe(code)
  expect(sqliteCodeOf(new Error(message))).toBeUndefined()
})

it("reads the code of a connection that libsql could not make", () => {
  const message = 'ConnectionFailed("Unable to open connection to local database /data/12: 3/store.db: 14")'
  expect(sqliteCodeOf(new Error(message))).toBe(14)
})

it("passes other errors on without advice", () => {
  for (const [cause, said] of [
    [new Error("lightning"), "lightning"],
    [ofNode(99), "said so"],
  ] as const) {
    const error = unavailable(cause, "/data/store.db")
    expect(error).toMatchObject({ problem: "other", message: `the store /data/store.db failed: ${said}` })
  }
  expect(sqliteCodeOf("thrown text")).toBeUndefined()
})

it("distinguishes errors that may be retried from others", () => {
  expect([5, 5 + 2 * 256, 6, 15].map((code) => isBusy(ofLibsql(code)))).toEqual([true, true, true, true])
  expect([8, 10, 11, 13].some((code) => isBusy(ofNode(code)))).toBe(false)
  expect(isBusy(new Error("busy"))).toBe(false)
})

it("recognizes a full disk also by the error that callers get", () => {
  const error = unavailable(ofNode(13), "/data/store.db", "unknown")
  expect(error).toMatchObject({ commitment: "unknown" })
  expect(isFull(error)).toBe(true)
  expect(unavailable(error, "/data/store.db")).toBe(error)
  expect(isFull(new StoreUnavailableError("full", "unknown"))).toBe(false)
})

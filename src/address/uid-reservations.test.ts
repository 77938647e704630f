import { expect, test } from "vitest"
import { ActorPath } from "./actor-path.js"
import { drawFirstUid, LARGEST_REQUESTED_UID, UidReservations } from "./uid-reservations.js"

const asked = ActorPath.parse("troupe://s/user/a#7")
const DAY = 24 * 60 * 60 * 1000

test("the counter never issues a uid twice, nor one that can be requested", () => {
  const uids = new UidReservations()
  expect([uids.next(), uids.next()]).toEqual([LARGEST_REQUESTED_UID + 1, LARGEST_REQUESTED_UID + 2])
})

test("the counter begins at firstIssued, which must be above the requested range", () => {
  const uids = new UidReservations({ firstIssued: 2 ** 40 })
  expect([uids.next(), uids.next()]).toEqual([2 ** 40, 2 ** 40 + 1])
  for (const firstIssued of [LARGEST_REQUESTED_UID, 0, -1, 2 ** 40 + 0.5, 2 ** 53, Number.NaN]) {
    expect(() => new UidReservations({ firstIssued })).toThrow(
      expect.objectContaining({ code: "InvalidUid" }),
    )
  }
})

test.each([
  [0, 2 ** 31],
  [5, 6 * 2 ** 31],
  [2 ** 20 - 1, 2 ** 51],
  [2 ** 32 - 1, 2 ** 51],
])("from %i the first uid is drawn as %i", (drawn, expected) => {
  const firstIssued = drawFirstUid({ uint32: () => drawn, bytes: (length) => new Uint8Array(length) })
  expect(firstIssued).toBe(expected)
  expect(new UidReservations({ firstIssued }).next()).toBe(expected)
})

test("refuses a requested uid while its actor runs and for five days after", () => {
  const uids = new UidReservations()
  expect(uids.claim(asked, 0)).toBeUndefined()
  expect(uids.claim(asked, 1)).toMatchObject({ code: "UidReserved", subject: "troupe://s/user/a#7" })
  uids.release(asked, DAY)
  expect(uids.claim(asked, 6 * DAY - 1)).toMatchObject({ code: "UidReserved" })
  expect(uids.claim(asked, 6 * DAY)).toBeUndefined()
})

test("reserves neither other uids of the path nor the uid at other paths", () => {
  const uids = new UidReservations()
  uids.claim(asked, 0)
  expect(uids.claim(asked.withUid(8), 0)).toBeUndefined()
  expect(uids.claim(ActorPath.parse("troupe://s/user/b#7"), 0)).toBeUndefined()
})

test("releasing a uid that was not claimed does not reserve it", () => {
  const uids = new UidReservations()
  uids.release(asked, 0)
  expect(uids.size).toBe(0)
})

test("a full table refuses requests until a reservation ends, and always accepts a release", () => {
  const uids = new UidReservations({ holdMs: 10, capacity: 2 })
  uids.claim(asked, 0)
  uids.claim(asked.withUid(8), 0)
  expect(uids.claim(asked.withUid(9), 0)).toMatchObject({
    code: "UidReserved",
    message: expect.stringContaining("limit"),
  })
  uids.release(asked, 5)
  uids.release(asked.withUid(8), 6)
  expect(uids.claim(asked.withUid(9), 14)).toMatchObject({ code: "UidReserved" })
  expect(uids.claim(asked.withUid(9), 15)).toBeUndefined()
  expect(uids.size).toBe(2)
})

test("refuses a requested uid from the range of the counter", () => {
  const uids = new UidReservations()
  expect(uids.claim(asked.withUid(uids.next()), 0)).toMatchObject({ code: "InvalidUid" })
  expect(uids.claim(asked.withUid(undefined), 0)).toMatchObject({ code: "InvalidUid" })
})

import { expect, test } from "vitest"
import type { Guest } from "./guest.js"
import { Refusals } from "./refusals.js"

const here = {}
const there = {}

function guest(key: string, connection: object = here, isAgain = false): Guest {
  return { key, connection, isAgain } as Guest
}

test("what follows a refused call on its connection is refused, up to one that is sent again", () => {
  const refusals = new Refusals()
  expect(refusals.cover(guest("a"))).toBe(false)
  refusals.add(guest("a"))
  expect(refusals.cover(guest("a"))).toBe(true)
  expect(refusals.cover(guest("a"))).toBe(true)
  expect(refusals.cover(guest("a", here, true))).toBe(false)
  expect(refusals.cover(guest("a"))).toBe(false)
})

test("it says nothing of other actors and other connections", () => {
  const refusals = new Refusals()
  refusals.add(guest("a"))
  expect(refusals.cover(guest("b"))).toBe(false)
  expect(refusals.cover(guest("a", there))).toBe(false)
  expect(refusals.cover(guest("a", there, true))).toBe(false)
  expect(refusals.cover(guest("a"))).toBe(true)
})

test("beyond what may be remembered of one connection, no refusal is forgotten", () => {
  const refusals = new Refusals()
  for (let number = 0; number <= 10_000; number += 1) refusals.add(guest(`${number}`))
  for (const key of ["0", "1", "5000", "10000"]) expect(refusals.cover(guest(key))).toBe(true)
  // Also what was never refused, once: that it was not is no longer known.
  expect(refusals.cover(guest("other"))).toBe(true)
  expect(refusals.cover(guest("other", here, true))).toBe(false)
  expect(refusals.cover(guest("other"))).toBe(false)
  refusals.add(guest("other"))
  expect(refusals.cover(guest("other"))).toBe(true)
  expect(refusals.cover(guest("0", there))).toBe(false)
})

test("what is remembered of those that were sent again is bounded too, and forgetting one costs a resend", () => {
  const refusals = new Refusals()
  for (let number = 0; number <= 20_000; number += 1) refusals.add(guest(`${number}`))
  for (let number = 0; number <= 10_000; number += 1) {
    expect(refusals.cover(guest(`${number}`, here, true))).toBe(false)
  }
  expect(refusals.cover(guest("10000"))).toBe(false)
  expect(refusals.cover(guest("0"))).toBe(true)
  expect(refusals.cover(guest("0", here, true))).toBe(false)
  expect(refusals.cover(guest("0"))).toBe(false)
})

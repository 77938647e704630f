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

test("what is remembered of one connection is bounded", () => {
  const refusals = new Refusals()
  for (let number = 0; number <= 10_000; number += 1) refusals.add(guest(`${number}`))
  expect(refusals.cover(guest("0"))).toBe(false)
  expect(refusals.cover(guest("1"))).toBe(true)
  expect(refusals.cover(guest("10000"))).toBe(true)
})

import { expect, test } from "vitest"
import type { Reception } from "./reception.js"
import { MOST_WAITING, Starts } from "./starts.js"

const one = {}
const other = {}

function reception(connection: object): Reception {
  return { connection } as Reception
}

test("1,024 of one connection begin at once; the others wait in their order, and each takes the place of one that ended", () => {
  const starts = new Starts()
  const first = Array.from({ length: 1_024 }, () => reception(one))
  expect(new Set(first.map((each) => starts.enter(each)))).toEqual(new Set(["now"]))
  const [second, third] = [reception(one), reception(one)]
  expect([starts.enter(second), starts.enter(third)]).toEqual(["later", "later"])
  expect(starts.enter(reception(other))).toBe("now")
  expect(starts.ended(first[0] as Reception)).toBe(second)
  expect(starts.ended(first[1] as Reception)).toBe(third)
  expect(starts.ended(second)).toBeUndefined()
  expect(starts.enter(reception(one))).toBe("now")
  expect(starts.enter(reception(one))).toBe("later")
})

test("a connection that has ended leaves nothing behind: the next one counts anew", () => {
  const starts = new Starts()
  const all = Array.from({ length: 1_030 }, () => reception(one))
  for (const each of all) starts.enter(each)
  for (const each of all) starts.ended(each)
  expect(starts.ended(reception(one))).toBeUndefined()
  expect(Array.from({ length: 1_025 }, () => starts.enter(reception(one))).at(-1)).toBe("later")
})

test("what waits is bounded", () => {
  const starts = new Starts()
  for (let number = 0; number < 1_024 + MOST_WAITING; number += 1) starts.enter(reception(one))
  expect(starts.enter(reception(one))).toBe("full")
  starts.ended(reception(one))
  expect(starts.enter(reception(one))).toBe("later")
  expect(starts.enter(reception(one))).toBe("full")
})

import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
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

test("what was given out by a line that never empties is let go", async () => {
  const starts = new Starts()
  const connection = {}
  const one = () => ({ connection }) as unknown as Reception
  for (let number = 0; number < 1_024 + 10; number += 1) starts.enter(one())
  const given: WeakRef<Reception>[] = []
  for (let number = 0; number < 50_000; number += 1) {
    const next = one()
    if (number % 5_000 === 0) given.push(new WeakRef(next))
    starts.enter(next)
    starts.ended(next)
  }
  // What a WeakRef was asked for is kept until the task is over.
  await new Promise((resolve) => setImmediate(resolve))
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  expect(starts.enter(one())).toBe("later")
  expect(given.filter((ref) => ref.deref() !== undefined).length).toBeLessThanOrEqual(1)
})

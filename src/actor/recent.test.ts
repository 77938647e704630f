import { expect, test } from "vitest"
import { Recent } from "./recent.js"

test("the latest are kept in their order, and all are counted", () => {
  const recent = new Recent<number>(3)
  const seen: unknown[] = []
  for (let number = 1; number <= 5; number += 1) {
    recent.add(number)
    seen.push([recent.total, recent.all()])
  }
  expect(seen).toEqual([
    [1, [1]],
    [2, [1, 2]],
    [3, [1, 2, 3]],
    [4, [2, 3, 4]],
    [5, [3, 4, 5]],
  ])
})

test("those after a number are the ones that a reader has not seen, as far as they are kept", () => {
  const recent = new Recent<number>(3)
  for (let number = 1; number <= 5; number += 1) recent.add(number)
  expect([0, 3, 4, 5, 9].map((number) => recent.after(number))).toEqual([[3, 4, 5], [4, 5], [5], [], []])
})

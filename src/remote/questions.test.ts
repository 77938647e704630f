import fc from "fast-check"
import { expect, test } from "vitest"
import type { ReplyRef } from "../actor/reply-ref.js"
import { Questions } from "./questions.js"

test("does as a map would, however long some take and however many there are", () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.constant("ask" as const) },
    { weight: 4, arbitrary: fc.nat({ max: 3_000 }) },
    { weight: 1, arbitrary: fc.constant("skip" as const) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 2_000, size: "max" }), (steps) => {
      const questions = new Questions()
      const model = new Map<number, ReplyRef>()
      let last = 0
      for (const what of steps) {
        if (what === "skip") last += 4_096
        else if (what === "ask") {
          last += 1
          const reply = question(last)
          questions.add(reply)
          model.set(last, reply)
        } else {
          const correlation = Math.max(0, last - what)
          expect(questions.get(correlation)).toBe(model.get(correlation))
          expect(questions.delete(correlation)).toBe(model.delete(correlation))
        }
      }
      for (const [correlation, reply] of model) expect(questions.get(correlation)).toBe(reply)
      expect(questions.takeAll()).toEqual([...model.values()])
      expect(questions.takeAll()).toEqual([])
    }),
    { numRuns: 100 },
  )
})

test("one that takes for ever costs one entry, not a larger table each time round", () => {
  const questions = new Questions()
  const slow = question(1)
  questions.add(slow)
  for (let correlation = 2; correlation < 1_000_000; correlation += 1) {
    questions.add(question(correlation))
    if (!questions.delete(correlation)) throw new Error(`${correlation} is not there`)
  }
  expect(questions.get(1)).toBe(slow)
  expect(questions.takeAll()).toEqual([slow])
})

test("numbers beyond 32 bits are told apart", () => {
  const questions = new Questions()
  const near = question(5)
  const far = question(2 ** 40 + 5)
  questions.add(near)
  questions.add(far)
  expect(questions.get(5)).toBe(near)
  expect(questions.get(2 ** 40 + 5)).toBe(far)
  expect(questions.get(2 ** 41 + 5)).toBeUndefined()
})

function question(correlation: number): ReplyRef {
  return { correlation } as ReplyRef
}

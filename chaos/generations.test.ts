import { expect, it } from "vitest"
import { Generations } from "./generations.js"

it("a call that was made after a later activation had answered is not answered by an earlier one", () => {
  const generations = new Generations()
  const overlapping = generations.called("a")
  generations.answered(generations.called("a"), 7)
  generations.answered(overlapping, 5)
  expect(generations.problems).toEqual([])

  generations.answered(generations.called("b"), 5)
  generations.answered(generations.called("a"), 5)
  expect(generations.problems).toEqual([
    "a: generation 5 answered a call that was made after generation 7 had answered",
  ])
  expect(generations.answers).toBe(4)
})

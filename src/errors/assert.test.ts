import { expect, test } from "vitest"
import { assert } from "./assert.js"

test("throws where an assumption does not hold, and says which", () => {
  expect(() => assert(1 < 2, "one is less than two")).not.toThrow()
  expect(() => assert(1 > 2, "one is more than two")).toThrow("assertion failed: one is more than two")
})

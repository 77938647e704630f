import { expect, test } from "vitest"
import { assert } from "./assert.js"

test("throws an error with the message when the condition is false", () => {
  expect(() => assert(1 < 2, "one is less than two")).not.toThrow()
  expect(() => assert(1 > 2, "one is more than two")).toThrow("assertion failed: one is more than two")
})

import { expect, it } from "vitest"
import { keyIn } from "./keys.js"

it.each([
  ["k", "k"],
  ["P", "p"],
  ["ak", "a"],
  ["q", "q"],
  ["\x03", "q"],
  ["k\x03", "q"],
  ["x", undefined],
  ["", undefined],
  ["\r", undefined],
  // Arrow up, and F1.
  ["\x1b[A", undefined],
  ["\x1bOP", undefined],
])("finds in %j the key %s", (input, key) => {
  expect(keyIn(input)).toBe(key)
})

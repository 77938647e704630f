import { expect, test } from "vitest"
import { quoted, shownCharacter } from "./quote.js"

test.each([
  ["plain", '"plain"'],
  ['a"b\\', '"a\\"b\\\\"'],
  ["a\nb\u001b[2J", '"a\\nb\\u001b[2J"'],
  ["\u007f\u0085\u009b", '"\\u007f\\u0085\\u009b"'],
  ["\u2028\u2029\u202e", '"\\u2028\\u2029\\u202e"'],
  ["\ud800", '"\\ud800"'],
])("%j is quoted as %s", (text, expected) => {
  expect(quoted(text)).toBe(expected)
})

test("truncates a long string", () => {
  expect(quoted("x".repeat(1_000_000))).toBe(`"${"x".repeat(40)}..."`)
})

test.each([
  ["^", "^"],
  [" ", "U+0020"],
  ["\n", "U+000A"],
  ["é", "U+00E9"],
])("the character %j is shown as %s", (character, expected) => {
  expect(shownCharacter(`a${character}`, 1)).toBe(expected)
})

import fc from "fast-check"
import { expect, test } from "vitest"
import { writtenPattern } from "../../test/generate/names.js"
import { NamePattern } from "./name-pattern.js"

test.each([
  ["a?b", "a b", true],
  ["a?b", "a%20b", false],
  ["a%20?", "a b", true],
  ["%2A", "*", true],
  ["%2A", "x", false],
  ["%3f*", "?x", true],
  ["%3f*", "xx", false],
  ["*", "", true],
  ["?", "", false],
  [".*", "..", true],
])("%s matches %j: %s", (written, name, expected) => {
  expect(NamePattern.of(written, 1).matches(name)).toBe(expected)
})

test.each([
  ["%62%2a*", "b%2A*"],
  ["%3f?", "%3F?"],
  ["a%20%7e", "a%20~"],
])("%s has the canonical form %s", (written, canonical) => {
  expect(NamePattern.of(written, 1).toString()).toBe(canonical)
})

test.each([
  ["", undefined],
  ["* *", 1],
  ["$*", 0],
  ["%24*", 0],
  ["*%?4", 1],
  ["**%00", 2],
])("refuses %j with its index and position", (written, position) => {
  expect(() => NamePattern.of(written, 5)).toThrow(expect.objectContaining({ index: 5, position }))
})

test("a pattern has at most 255 characters; names are not limited", () => {
  const longest = NamePattern.of(`${"*a".repeat(127)}b`, 1)
  expect(longest.matches("a".repeat(100_000))).toBe(false)
  expect(() => NamePattern.of(`${"*a".repeat(127)}bc`, 1)).toThrow(
    expect.objectContaining({ code: "InvalidSegment", index: 1 }),
  )
  expect(NamePattern.of("a".repeat(256), 1).matches("a".repeat(256))).toBe(true)
})

test("matches what the equivalent regular expression matches", () => {
  const name = fc.string({ unit: fc.constantFrom(..."aA*? b"), maxLength: 8 })
  fc.assert(
    fc.property(writtenPattern, name, (written, name) => {
      const wildcards: Record<string, string> = { "*": ".*", "?": "." }
      const source = written.replace(/%..|./g, (piece) => wildcards[piece] ?? literally(piece))
      expect(NamePattern.of(written, 1).matches(name)).toBe(new RegExp(`^${source}$`).test(name))
    }),
    { numRuns: 5_000 },
  )
})

function literally(piece: string): string {
  return decodeURIComponent(piece).replace(/\W/, "\\$&")
}

import { expect, test } from "vitest"
import { Trace } from "./trace.js"

function hashOf(lines: readonly string[]): string {
  const trace = new Trace()
  for (const line of lines) trace.add(line)
  return trace.hash
}

test("keeps the last lines, and counts and reports all of them", () => {
  const told: string[] = []
  const trace = new Trace({ keep: 3, listener: (line) => told.push(line) })
  for (let line = 0; line < 1_000; line += 1) trace.add(`${line}`)
  expect(trace.tail).toEqual(["997", "998", "999"])
  expect(trace.count).toBe(1_000)
  expect(told).toHaveLength(1_000)
})

test("the hash covers every character, the order, and the ends of lines", () => {
  const hashes = [[], [""], ["", ""], ["ab"], ["ba"], ["a", "b"], ["b", "a"], ["ac"], ["ab", ""], ["Ab"]].map(
    hashOf,
  )
  expect(new Set(hashes).size).toBe(hashes.length)
  expect(hashOf(["ab", "c"])).toBe(hashOf(["ab", "c"]))
  expect(hashOf(["ab"])).toMatch(/^[0-9a-f]{16}$/)
})

test("the hash covers lines that are no longer kept", () => {
  const long = (first: string) => hashOf([first, ...Array.from({ length: 1_000 }, () => "x")])
  expect(long("a")).not.toBe(long("b"))
})

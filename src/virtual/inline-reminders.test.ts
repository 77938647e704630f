import { expect, test } from "vitest"
import { inlineSize, joinRows, splitRows } from "./inline-reminders.js"

const rows = ["", "a", "b".repeat(300)].map((text) => Buffer.from(text))

test("rows come back as they were joined, in their order", () => {
  expect(splitRows(joinRows(rows))).toEqual(rows)
  expect(splitRows(joinRows([]))).toEqual([])
})

test("a row takes no more than it says", () => {
  const sizes = rows.map(inlineSize)
  expect(joinRows(rows).length).toBeLessThanOrEqual(sizes.reduce((sum, one) => sum + one))
})

test("bytes that end within a row are refused", () => {
  expect(() => splitRows(joinRows(rows).subarray(0, 100))).toThrow("unexpected end")
})

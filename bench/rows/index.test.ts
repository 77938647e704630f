import { expect, it } from "vitest"
import * as registered from "./index.js"

const rows = Object.values(registered)

it("has rows whose names can be told apart and typed", () => {
  const names = rows.map((row) => row.name)
  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
})

it("counts throughput by the second", () => {
  for (const row of rows) expect(row.kind === "free" || row.unit.endsWith("/s"), row.name).toBe(true)
})

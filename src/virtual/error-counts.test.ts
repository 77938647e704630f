import { expect, test } from "vitest"
import { OverloadedError } from "../errors/call-errors.js"
import { ErrorCounts } from "./error-counts.js"

test("errors count by their code, or else by their name", () => {
  const counts = new ErrorCounts()
  counts.add(new OverloadedError("a", 1))
  counts.add(new OverloadedError("b", 1))
  counts.add(new TypeError("no"))
  counts.add(Object.assign(new Error("no"), { code: "ENOENT" }))
  counts.add("text")
  expect([counts.total, counts.byCode]).toEqual([
    5,
    { [new OverloadedError("a", 1).code]: 2, TypeError: 1, ENOENT: 1, string: 1 },
  ])
})

test("codes that a program makes up do not take more and more memory", () => {
  const counts = new ErrorCounts()
  for (let number = 0; number < 1_000; number += 1) {
    counts.add(Object.assign(new Error("no"), { code: `E${number}` }))
  }
  expect([counts.total, Object.keys(counts.byCode).length, counts.byCode["other"]]).toEqual([1_000, 33, 968])
})

import { expect, test } from "vitest"
import { noTelemetry } from "./no-telemetry.js"

test("hands out the same instruments whatever is asked for", () => {
  expect(noTelemetry.counter("a")).toBe(noTelemetry.counter("b", { unit: "1" }))
  expect(noTelemetry.histogram("a")).toBe(noTelemetry.histogram("b"))
  expect(noTelemetry.span("a")).toBe(noTelemetry.span("b", { attributes: { k: 1 } }))
})

test("takes everything that can be told and has no trace to send along", () => {
  noTelemetry.counter("calls").add()
  noTelemetry.counter("calls").add(3, { type: "User" })
  noTelemetry.histogram("latency").record(1.5)
  const span = noTelemetry.span("call")
  span.set({ method: "deposit" })
  span.fail(new Error("no"))
  span.end()
  expect(span.context).toBeUndefined()
})

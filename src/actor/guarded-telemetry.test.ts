import { expect, test } from "vitest"
import { ManualClock } from "../../test/fake/manual-clock.js"
import type { LogFields, Logger } from "../ports/logger.js"
import type { Telemetry } from "../ports/telemetry.js"
import { guardedLogger } from "./guarded-logger.js"
import { guardedTelemetry } from "./guarded-telemetry.js"

const fails = (): never => {
  throw new Error("not today")
}

function recording(): { logger: Logger; lines: string[] } {
  const lines: string[] = []
  const logger: Logger = {
    enabled: () => true,
    log: (level, message, fields?: LogFields) =>
      lines.push(`${level} ${message}: ${(fields?.["error"] as Error | undefined)?.message}`),
    with: () => logger,
  }
  return { logger, lines }
}

test("passes everything to a working adapter", () => {
  const seen: unknown[] = []
  const context = { traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: true }
  const telemetry: Telemetry = {
    counter: (...args) => ({ add: (...more) => seen.push(["counter", ...args, ...more]) }),
    histogram: (...args) => ({ record: (...more) => seen.push(["histogram", ...args, ...more]) }),
    span: (...args) => ({
      context,
      set: (attributes) => seen.push(["set", ...args, attributes]),
      fail: (error) => seen.push(["fail", error]),
      end: () => seen.push(["end"]),
    }),
  }
  const { logger, lines } = recording()
  const guarded = guardedTelemetry(telemetry, logger, new ManualClock())
  guarded.counter("c", { unit: "1" }).add(2, { a: 1 })
  guarded.histogram("h").record(3)
  const span = guarded.span("s", { parent: context })
  span.set({ b: 2 })
  span.fail("f")
  span.end()
  expect(span.context).toEqual(context)
  expect(seen).toEqual([
    ["counter", "c", { unit: "1" }, 2, { a: 1 }],
    ["histogram", "h", undefined, 3, undefined],
    ["set", "s", { parent: context }, { b: 2 }],
    ["fail", "f"],
    ["end"],
  ])
  expect(lines).toEqual([])
})

test.each<[string, Telemetry]>([
  ["throws at every call", { counter: fails, histogram: fails, span: fails }],
  [
    "returns nothing",
    {
      counter: () => undefined as never,
      histogram: () => undefined as never,
      span: () => undefined as never,
    },
  ],
  [
    "returns instruments that throw",
    {
      counter: () => ({ add: fails }),
      histogram: () => ({ record: fails }),
      span: () => ({ context: undefined, set: fails, fail: fails, end: fails }),
    },
  ],
  [
    "returns a span that cannot be inspected",
    {
      counter: () => ({}) as never,
      histogram: () => ({}) as never,
      span: () => new Proxy({} as never, { get: fails }),
    },
  ],
  [
    "returns an invalid context",
    {
      counter: () => 5 as never,
      histogram: () => 5 as never,
      span: () => ({ context: { traceId: { toString: fails } } as never, set() {}, fail() {}, end() {} }),
    },
  ],
])("continues with an adapter that %s", (_what, telemetry) => {
  const { logger } = recording()
  const guarded = guardedTelemetry(telemetry, logger, new ManualClock())
  guarded.counter("c").add()
  guarded.histogram("h").record(1)
  const span = guarded.span("s")
  span.set({})
  span.fail(new Error("e"))
  span.end()
  expect(span.context).toBeUndefined()
})

test("logs errors of the adapter once a minute", async () => {
  const clock = new ManualClock()
  const { logger, lines } = recording()
  const guarded = guardedTelemetry({ counter: fails, histogram: fails, span: fails }, logger, clock)
  for (let count = 0; count < 100; count += 1) guarded.span("s").end()
  expect(lines).toEqual(["error the telemetry adapter threw; the measurement is lost: not today"])
  await clock.advance(60_001)
  guarded.counter("c")
  guarded.counter("c")
  expect(lines).toHaveLength(2)
})

test("a rejected promise of a logger or an adapter is not an unhandled rejection", async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on("unhandledRejection", note)
  const rejects = (() => Promise.reject(new Error("later"))) as never
  const { logger, lines } = recording()
  guardedLogger({ enabled: () => true, log: rejects, with: fails })
    .with({})
    .log("info", "m")
  const span = { context: undefined, set: rejects, fail: rejects, end: rejects }
  const adapter = { counter: rejects, histogram: rejects, span: () => span }
  const guarded = guardedTelemetry(adapter, logger, new ManualClock())
  guarded.counter("c")
  guarded.span("s").end()
  await new Promise((resolve) => setImmediate(resolve))
  process.off("unhandledRejection", note)
  expect(unhandled).toEqual([])
  expect(lines).toHaveLength(1)
})

test("uses a logger as it is if its with returns nothing", () => {
  const { logger, lines } = recording()
  guardedLogger({ ...logger, with: () => undefined as never })
    .with({ a: 1 })
    .log("info", "m")
  expect(lines).toHaveLength(1)
})

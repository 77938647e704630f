import { expect, test, vi } from "vitest"
import type { Clock } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import { type ConsoleLoggerOptions, consoleLogger } from "./console-logger.js"
import { nodeClock } from "./node-clock.js"

const clock: Clock = { ...nodeClock, wallMs: () => Date.UTC(2026, 0, 2, 3, 4, 5, 6) }

function logTo(lines: string[], options: ConsoleLoggerOptions = {}): Logger {
  return consoleLogger({ clock, write: (line) => lines.push(line), ...options })
}

test("writes one line of text with the time, the level, the message and the fields", () => {
  const lines: string[] = []
  logTo(lines).log("info", "Listening", {
    at: "127.0.0.1:25520",
    nodes: 3,
    roles: ["a", "b"],
    name: "the first",
  })
  expect(lines).toEqual([
    '2026-01-02T03:04:05.006Z INFO  Listening at=127.0.0.1:25520 nodes=3 roles=["a","b"] name="the first"',
  ])
})

test("writes one JSON object with the same", () => {
  const lines: string[] = []
  logTo(lines, { format: "json" }).log("error", "Broken", { attempt: 2, of: { peer: "b" } })
  expect(lines).toEqual([
    '{"time":"2026-01-02T03:04:05.006Z","level":"error","message":"Broken","attempt":2,"of":{"peer":"b"}}',
  ])
})

test.each([
  [{}, "info warn error"],
  [{ level: "debug" }, "debug info warn error"],
  [{ level: "error" }, "error"],
] as const)("with %o it writes %s", (options, expected) => {
  const lines: string[] = []
  const logger = logTo(lines, options)
  const levels = ["debug", "info", "warn", "error"] as const
  for (const level of levels) logger.log(level, level)
  expect(lines.map((line) => line.slice(31)).join(" ")).toBe(expected)
  expect(levels.filter((level) => logger.enabled(level)).join(" ")).toBe(expected)
})

test("a level or a format that is not known is an assertion", () => {
  expect(() => consoleLogger({ level: "trace" as "debug" })).toThrow(
    /one of debug, info, warn, error \(got trace\)/,
  )
  expect(() => consoleLogger({ level: "constructor" as "debug" })).toThrow(/got constructor/)
  expect(() => consoleLogger({ format: "xml" as "json" })).toThrow(/text or json/)
})

test("goes to stderr unless told otherwise", () => {
  const written = vi.spyOn(console, "error").mockReturnValue()
  try {
    consoleLogger({ clock }).log("info", "100% sure")
    expect(written.mock.calls).toEqual([["2026-01-02T03:04:05.006Z INFO  100% sure"]])
  } finally {
    written.mockRestore()
  }
})

test("a child adds its fields to everything, and the nearest field wins", () => {
  const lines: string[] = []
  const child = logTo(lines, { format: "json" }).with({ node: "a", actor: "x" }).with({ actor: "y" })
  child.log("info", "m", { turn: 1 })
  child.log("info", "m", { node: "b" })
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { node: "a", actor: "y", turn: 1 },
    { node: "b", actor: "y" },
  ])
})

test("a time that no calendar knows is written as a number", () => {
  const lines: string[] = []
  logTo(lines, { clock: { ...clock, wallMs: () => 1e20 } }).log("info", "late")
  expect(lines).toEqual(["100000000000000000000 INFO  late"])
})

import { expect, test } from "vitest"
import { ManualClock } from "../../test/fake/manual-clock.js"
import type { LogFields, Logger } from "../ports/logger.js"
import { LimitedLogger } from "./limited-logger.js"

function recorded(isEnabled = true) {
  const lines: [string, LogFields | undefined][] = []
  const logger: Logger = {
    enabled: () => isEnabled,
    log: (_level, message, fields) => lines.push([message, fields]),
    with: () => logger,
  }
  const clock = new ManualClock()
  return { clock, lines, limited: new LimitedLogger(logger, clock) }
}

test("logs each message ten times, then not for a minute, then with the number suppressed", () => {
  const { clock, lines, limited } = recorded()
  for (let count = 0; count < 25; count += 1) limited.log("warn", "one", { count })
  limited.log("warn", "another")
  expect(lines).toHaveLength(11)
  expect(lines[8]).toEqual(["one", { count: 8 }])
  expect(lines[9]).toEqual(["one", { count: 9, note: "no more of these for a minute" }])
  expect(lines[10]).toEqual(["another", {}])
  clock.holdUp(59_999)
  limited.log("warn", "one")
  expect(lines).toHaveLength(11)
  clock.holdUp(1)
  limited.log("warn", "one")
  expect(lines[11]).toEqual(["one", { suppressed: 16 }])
})

test("logs every message that comes rarely", () => {
  const { clock, lines, limited } = recorded()
  for (let count = 0; count < 100; count += 1) {
    limited.log("warn", "one")
    clock.holdUp(7_000)
  }
  expect(lines).toHaveLength(100)
})

test("computes expensive fields only for lines that are logged", () => {
  let asked = 0
  const fields = () => {
    asked += 1
    return {}
  }
  const { limited } = recorded()
  for (let count = 0; count < 25; count += 1) limited.log("warn", "one", fields)
  recorded(false).limited.log("warn", "one", fields)
  expect(asked).toBe(10)
})

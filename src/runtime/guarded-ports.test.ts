import { once } from "node:events"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { Logger } from "../ports/logger.js"
import type { Ports } from "../ports/ports.js"
import { nodePorts } from "./node-ports.js"

/** What was thrown where nobody catches it. */
const uncaught: unknown[] = []
const note = (error: unknown) => uncaught.push(error)

beforeEach(() => {
  process.on("uncaughtExceptionMonitor", note)
})

afterEach(() => {
  process.off("uncaughtExceptionMonitor", note)
  expect(uncaught.splice(0)).toEqual([])
})

const ways: [what: string, line: string, way: (ports: Ports, task: () => void) => void][] = [
  ["a timer", "a timer failed", ({ clock }, task) => clock.setTimer(0, task)],
  ["a yield", "a deferred task failed", ({ scheduler }, task) => scheduler.yield(task)],
  [
    "a task after the microtasks",
    "a deferred task failed",
    ({ scheduler }, task) => scheduler.afterMicrotasks(task),
  ],
]

test.each(ways)("what %s throws ends nothing but that: it is logged, with a limit", async (_, line, way) => {
  const { logger, lines } = recording()
  const ports = nodePorts({ logger })
  let times = 0
  const done = new Promise<void>((resolve) => {
    for (let time = 1; time <= 15; time += 1) {
      way(ports, () => {
        times += 1
        if (time === 15) resolve()
        throw new RangeError(`time ${time}`)
      })
    }
  })
  await done
  await new Promise<void>((resolve) => ports.clock.setTimer(1, resolve))
  expect(times).toBe(15)
  expect(lines).toEqual(Array(10).fill(`error ${line}; this is a defect of the runtime, please report it`))
})

test("a logger that throws changes nothing about that", async () => {
  const throwing: Logger = {
    enabled: () => true,
    log: () => {
      throw new Error("the disk is full")
    },
    with: () => throwing,
  }
  const { clock } = nodePorts({ logger: throwing })
  const controller = new AbortController()
  clock.setTimer(0, () => {
    throw new RangeError("first")
  })
  clock.setTimer(1, () => controller.abort())
  await once(controller.signal, "abort")
})

test("a timer that was cancelled does not fire, and clocks go on as they are", async () => {
  const { clock } = nodePorts({ logger: recording().logger })
  let hasFired = false
  clock
    .setTimer(1, () => {
      hasFired = true
    })
    .cancel()
  await new Promise<void>((resolve) => clock.setTimer(5, resolve))
  expect(hasFired).toBe(false)
  expect(Math.abs(clock.wallMs() - Date.now())).toBeLessThan(1_000)
})

function recording(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = []
  const logger: Logger = {
    enabled: () => true,
    log: (level, message) => lines.push(`${level} ${message}`),
    with: () => logger,
  }
  return { logger, lines }
}

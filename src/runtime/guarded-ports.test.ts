import { once } from "node:events"
import { expect, test } from "vitest"
import type { Logger } from "../ports/logger.js"
import { nodePorts } from "./node-ports.js"

test("what a timer or a task that was put off throws ends nothing but that: it is logged, with a limit", async () => {
  const { logger, lines } = recording()
  const { clock, scheduler } = nodePorts({ logger })
  const ran = { times: 0 }
  const failing = () => {
    ran.times += 1
    throw new RangeError(`time ${ran.times}`)
  }
  for (let time = 0; time < 15; time += 1) {
    clock.setTimer(0, failing)
    scheduler.yield(failing)
    scheduler.afterMicrotasks(failing)
  }
  await new Promise<void>((resolve) => clock.setTimer(5, resolve))
  expect(ran.times).toBe(45)
  expect(lines.filter((line) => line.startsWith("error a timer failed"))).toHaveLength(10)
  expect(lines.filter((line) => line.startsWith("error a task that was put off failed"))).toHaveLength(10)
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

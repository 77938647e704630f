import { expect, test, vi } from "vitest"
import type { Clock } from "../ports/clock.js"
import { nodeLifeline } from "./lifeline/node-lifeline.js"
import { noTelemetry } from "./no-telemetry.js"
import { nodeClock } from "./node-clock.js"
import { nodeNetwork } from "./node-network.js"
import { nodePorts } from "./node-ports.js"
import { nodeRandom } from "./node-random.js"
import { nodeScheduler } from "./node-scheduler.js"

test("every port is Node's unless it is overridden", () => {
  expect(nodePorts()).toMatchObject({
    random: nodeRandom,
    network: nodeNetwork,
    lifeline: nodeLifeline,
    telemetry: noTelemetry,
  })
  const random = { uint32: () => 4, bytes: (length: number) => new Uint8Array(length) }
  expect(nodePorts({ random, clock: nodeClock, scheduler: nodeScheduler })).toMatchObject({
    clock: nodeClock,
    random,
    scheduler: nodeScheduler,
  })
})

test("the logger tells the time by the clock that was given", () => {
  const clock: Clock = { ...nodeClock, wallMs: () => Date.UTC(2031, 0, 2) }
  const written = vi.spyOn(console, "error").mockReturnValue()
  try {
    nodePorts({ clock }).logger.log("warn", "hello")
    expect(written.mock.calls).toEqual([["2031-01-02T00:00:00.000Z WARN  hello"]])
  } finally {
    written.mockRestore()
  }
})

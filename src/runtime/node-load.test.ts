import { setTimeout as pause } from "node:timers/promises"
import { expect, test } from "vitest"
import { nodeLoad } from "./node-load.js"

test("the share of a loop that waits is low, and that of one that computes is high", async () => {
  const load = nodeLoad()
  load.busy()
  await pause(100)
  const waiting = load.busy()
  const until = performance.now() + 100
  while (performance.now() < until);
  await pause(0)
  const computing = load.busy()
  expect(waiting).toBeGreaterThanOrEqual(0)
  expect(computing).toBeLessThanOrEqual(1)
  expect(computing).toBeGreaterThan(waiting)
})

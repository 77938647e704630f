import { expect, test } from "vitest"
import { nodeScheduler } from "./node-scheduler.js"

test("microtasks run in order after the current turn and before yielded tasks", async () => {
  const ran: string[] = []
  await new Promise<void>((resolve) => {
    nodeScheduler.yield(() => ran.push("yield 1"))
    nodeScheduler.yield(() => {
      ran.push("yield 2")
      resolve()
    })
    nodeScheduler.microtask(() => {
      ran.push("microtask 1")
      nodeScheduler.microtask(() => ran.push("microtask 3"))
    })
    nodeScheduler.microtask(() => ran.push("microtask 2"))
    ran.push("turn")
  })
  expect(ran).toEqual(["turn", "microtask 1", "microtask 2", "microtask 3", "yield 1", "yield 2"])
})

test("work that keeps yielding does not starve timers", async () => {
  let fired = false
  setTimeout(() => {
    fired = true
  }, 1)
  await new Promise<void>((resolve) => {
    const again = () => (fired ? resolve() : nodeScheduler.yield(again))
    again()
  })
  expect(fired).toBe(true)
})

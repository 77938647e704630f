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

test("what is to run after microtasks waits for those that others add, and for no socket", async () => {
  const ran: string[] = []
  await new Promise<void>((resolve) => {
    nodeScheduler.yield(() => {
      ran.push("yield")
      resolve()
    })
    nodeScheduler.afterMicrotasks(() => ran.push("after 1"))
    nodeScheduler.microtask(() => {
      ran.push("microtask 1")
      nodeScheduler.afterMicrotasks(() => ran.push("after 2"))
      nodeScheduler.microtask(() => nodeScheduler.microtask(() => ran.push("microtask 2")))
    })
  })
  expect(ran).toEqual(["microtask 1", "microtask 2", "after 1", "after 2", "yield"])
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

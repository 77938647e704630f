import { expect, test } from "vitest"
import { ManualClock } from "../../test/fake/manual-clock.js"
import { ActorId } from "../address/actor-id.js"
import { ActivationTimers } from "./activation-timers.js"
import type { OwnTask } from "./own-task.js"

/** Timers whose queued tasks the test runs. */
function setUp() {
  const clock = new ManualClock()
  const waiting: OwnTask[] = []
  const failed: [string, Error][] = []
  const owner = {
    id: ActorId.of("test", "Subject", "one"),
    key: "Subject/one",
    isInvalid: false,
    enqueueOwn: (task: OwnTask) => waiting.push(task),
    taskFailed: (kind: string, error: Error) => failed.push([kind, error]),
  }
  return { clock, waiting, failed, owner, timers: new ActivationTimers(owner, clock) }
}

test("a task is queued as a message of the actor to itself, does not count as use, and runs once", async () => {
  const { clock, waiting, timers } = setUp()
  const ran: string[] = []
  timers.after(10, () => {
    ran.push("task")
  })
  await clock.advance(9)
  expect(waiting).toEqual([])
  await clock.advance(1)
  const [task] = waiting.splice(0) as [OwnTask]
  expect(task).toMatchObject({ key: "Subject/one", isOneWay: true, isBackground: true, chain: [] })
  expect(ran).toEqual([])
  task.run()
  task.succeed()
  expect([ran, clock.pendingTimers]).toEqual([["task"], 0])
})

test("the interval counts from the end of the previous run, even if that run failed", async () => {
  const { clock, waiting, failed, timers } = setUp()
  timers.every(10, () => {})
  await clock.advance(30)
  expect(waiting.length).toBe(1)
  waiting.splice(0)[0]?.succeed()
  await clock.advance(9)
  expect(waiting.length).toBe(0)
  await clock.advance(1)
  const error = new Error("no")
  waiting.splice(0)[0]?.fail(error)
  await clock.advance(10)
  expect([failed, waiting.length]).toEqual([[["timer", error]], 1])
})

test("a cancelled timer does not fire, and a task that it has queued does not run", async () => {
  const { clock, waiting, timers } = setUp()
  timers.after(10, () => {}).cancel()
  expect(clock.pendingTimers).toBe(0)
  const timer = timers.every(10, () => {})
  await clock.advance(10)
  timer.cancel()
  expect(waiting.map(({ isOver }) => isOver)).toEqual([true])
  waiting[0]?.succeed()
  expect(clock.pendingTimers).toBe(0)
})

test("the end of the activation ends all timers, and none can be set after it", async () => {
  const { clock, waiting, owner, timers } = setUp()
  timers.after(10, () => {})
  timers.every(10, () => {})
  owner.isInvalid = true
  timers.end()
  timers.after(10, () => {})
  await clock.advance(100)
  expect([waiting, clock.pendingTimers]).toEqual([[], 0])
})

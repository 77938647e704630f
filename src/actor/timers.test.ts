import { expect, onTestFinished, test } from "vitest"
import { startTestSystem } from "../../test/fake/test-system.js"
import type { ActorRef } from "./actor-ref.js"
import { Behaviors } from "./behaviors.js"
import type { Timers } from "./timers.js"

test("a single timer sends its message once, when it is due", async () => {
  const { clock, heard, timers } = await timed()
  timers.startSingle("key", "wake", 100)
  await clock.advance(99)
  expect(heard).toEqual([])
  expect(timers.isActive("key")).toBe(true)
  await clock.advance(1)
  expect(heard).toEqual(["wake"])
  expect(timers.isActive("key")).toBe(false)
  await clock.advance(1_000)
  expect(heard).toEqual(["wake"])
})

test("a periodic timer sends its message every interval, first after one interval", async () => {
  const { clock, heard, timers } = await timed()
  timers.startPeriodic("key", "tick", 100)
  await clock.advance(99)
  expect(heard).toEqual([])
  await clock.advance(1)
  expect(heard).toEqual(["tick"])
  await clock.advance(350)
  expect(heard).toEqual(["tick", "tick", "tick", "tick"])
  expect(timers.isActive("key")).toBe(true)
})

test("keys are independent, and any value can be a key", async () => {
  const { clock, heard, timers } = await timed()
  const object = {}
  timers.startSingle("key", "by text", 10)
  timers.startSingle(object, "by object", 20)
  timers.startSingle({}, "by another object", 30)
  timers.startSingle(undefined, "by nothing", 40)
  timers.cancel(object)
  expect([timers.isActive("key"), timers.isActive(object), timers.isActive({})]).toEqual([true, false, false])
  await clock.advance(40)
  expect(heard).toEqual(["by text", "by another object", "by nothing"])
})

test("accepts undefined as the message", async () => {
  const { clock, heard, timers } = await timed()
  timers.startSingle("key", undefined, 10)
  await clock.advance(10)
  expect(heard).toEqual([undefined])
})

test("a cancelled timer does not fire, and no timer of the clock remains", async () => {
  const { clock, heard, timers } = await timed()
  timers.startSingle("single", "wake", 100)
  timers.startPeriodic("periodic", "tick", 100)
  timers.cancel("single")
  timers.cancel("no such key")
  timers.cancel("periodic")
  expect(clock.pendingTimers).toBe(0)
  timers.startSingle("a", "wake", 100)
  timers.startPeriodic("b", "tick", 100)
  timers.cancelAll()
  expect(clock.pendingTimers).toBe(0)
  expect([timers.isActive("a"), timers.isActive("b")]).toEqual([false, false])
  await clock.advance(1_000)
  expect(heard).toEqual([])
})

test("starting a key again replaces its timer", async () => {
  const { clock, heard, timers } = await timed()
  timers.startSingle("key", "old", 100)
  await clock.advance(50)
  timers.startSingle("key", "new", 100)
  expect(clock.pendingTimers).toBe(1)
  await clock.advance(99)
  expect(heard).toEqual([])
  await clock.advance(1)
  expect(heard).toEqual(["new"])
  timers.startPeriodic("key", "tick", 10)
  timers.startSingle("key", "last", 20)
  expect(clock.pendingTimers).toBe(1)
  await clock.advance(100)
  expect(heard).toEqual(["new", "last"])
})

test("cancel discards a message that waits in the mailbox", async () => {
  const { clock, heard, timers, hold, deadLetters } = await timed()
  const letGo = await hold()
  timers.startSingle("single", "wake", 10)
  timers.startPeriodic("periodic", "tick", 10)
  await clock.advance(10)
  timers.cancel("single")
  timers.cancelAll()
  letGo()
  await clock.advance(100)
  expect(heard).toEqual([])
  expect(deadLetters).toEqual([])
})

test("starting a key again discards the old message that waits in the mailbox", async () => {
  const { clock, heard, timers, hold } = await timed()
  const letGo = await hold()
  timers.startSingle("key", "old", 10)
  await clock.advance(10)
  expect(timers.isActive("key")).toBe(true)
  timers.startSingle("key", "new", 10)
  letGo()
  await clock.advance(9)
  expect(heard).toEqual([])
  await clock.advance(1)
  expect(heard).toEqual(["new"])
})

test("skips a tick while the previous one waits, and keeps the schedule", async () => {
  const { clock, heard, timers, hold } = await timed()
  const letGo = await hold()
  timers.startPeriodic("key", "tick", 100)
  await clock.advance(450)
  letGo()
  await clock.advance(49)
  expect(heard).toEqual(["tick"])
  await clock.advance(1)
  expect(heard).toEqual(["tick", "tick"])
})

test("a timer's message waits behind earlier messages", async () => {
  const { clock, heard, timers, hold, ref } = await timed()
  const letGo = await hold()
  ref.tell("before")
  timers.startSingle("key", "wake", 10)
  await clock.advance(10)
  ref.tell("after")
  letGo()
  await clock.advance(0)
  expect(heard).toEqual(["before", "wake", "after"])
})

test("a full mailbox accepts a timer's message", async () => {
  const { clock, heard, timers, hold, ref, deadLetters } = await timed({ mailboxCapacity: 1 })
  const letGo = await hold()
  ref.tell("message")
  timers.startSingle("key", "wake", 10)
  await clock.advance(10)
  ref.tell("one more")
  letGo()
  await clock.advance(0)
  expect(heard).toEqual(["message", "wake"])
  expect(deadLetters.map(({ message, reason }) => [message, reason])).toEqual([["one more", "mailbox-full"]])
})

test("timers end with their actor, and fired messages are not dead letters", async () => {
  const { clock, heard, timers, hold, system, ref, deadLetters } = await timed()
  const letGo = await hold()
  timers.startPeriodic("waits", "tick", 10)
  timers.startSingle("pending", "wake", 1_000)
  await clock.advance(10)
  const stopped = system.stopActor(ref)
  letGo()
  await stopped
  expect(clock.pendingTimers).toBe(0)
  timers.startSingle("too late", "wake", 10)
  timers.startPeriodic("too late as well", "tick", 10)
  expect(clock.pendingTimers).toBe(0)
  await clock.advance(2_000)
  expect(heard).toEqual([])
  expect(deadLetters).toEqual([])
})

test("timers end with a restart, and fired messages are discarded", async () => {
  const { clock, heard, timers, hold, ref, starts } = await timed()
  const letGo = await hold()
  timers.startPeriodic("waits", "tick", 10)
  timers.startSingle("pending", "wake", 1_000)
  ref.tell("fail")
  await clock.advance(10)
  letGo()
  await clock.advance(0)
  expect(starts).toHaveLength(2)
  expect(clock.pendingTimers).toBe(0)
  await clock.advance(2_000)
  expect(heard).toEqual([])
})

test("a key can be used again after a restart", async () => {
  const { clock, heard, hold, ref, starts, timers } = await timed()
  const letGo = await hold()
  timers.startSingle("key", "old", 10)
  ref.tell("fail")
  await clock.advance(10)
  letGo()
  await clock.advance(0)
  const anew = starts.at(-1) as Timers<unknown>
  expect(anew.isActive("key")).toBe(false)
  anew.startSingle("key", "new", 10)
  await clock.advance(10)
  expect(heard).toEqual(["new"])
})

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
  "refuses an interval of %d ms",
  async (intervalMs) => {
    const { timers } = await timed()
    timers.startSingle("key", "kept", 10)
    expect(() => timers.startPeriodic("key", "tick", intervalMs)).toThrow(RangeError)
    expect(timers.isActive("key")).toBe(true)
  },
)

test.each([Number.NaN, Number.POSITIVE_INFINITY])("refuses a delay of %d ms", async (delayMs) => {
  const { timers } = await timed()
  timers.startSingle("key", "kept", 10)
  expect(() => timers.startSingle("key", "wake", delayMs)).toThrow(RangeError)
  expect(timers.isActive("key")).toBe(true)
})

/** Starts an actor with timers that records its messages; `hold` keeps it in a turn until it is released. */
async function timed(options: { mailboxCapacity?: number } = {}) {
  const test = await startTestSystem()
  onTestFinished(() => test.system.stop())
  const heard: unknown[] = []
  const starts: Timers<unknown>[] = []
  const actor = Behaviors.withTimers<unknown>((timers) => {
    starts.push(timers)
    return Behaviors.receive((_context, message) => {
      if (message === "fail") throw new Error("as told")
      if (message instanceof Promise) return message
      heard.push(message)
      return Behaviors.same
    })
  })
  const ref: ActorRef<unknown> = test.system.spawn(
    Behaviors.supervise(actor, { strategy: "restart" }),
    "timed",
    options,
  )
  await test.clock.advance(0)
  const hold = async () => {
    let letGo = () => {}
    ref.tell(
      new Promise((resolve) => {
        letGo = () => resolve(Behaviors.same)
      }),
    )
    await test.clock.advance(0)
    return letGo
  }
  return { ...test, ref, heard, starts, hold, timers: starts[0] as Timers<unknown> }
}

import { expect, test } from "vitest"
import { ManualClock, settle } from "../../test/fake/manual-clock.js"
import { OutgoingCalls } from "./outgoing-calls.js"

function stand({ timeoutMs = 5_000 } = {}) {
  const clock = new ManualClock()
  const calls = new OutgoingCalls("Subject/one")
  const end = { isWanted: false, isLeaving: false, isFenced: false }
  let isSettled = false
  return {
    clock,
    calls,
    end,
    /** Starts to wait for the calls. */
    wait: () => {
      const settled = calls.settled(end, clock, timeoutMs)
      if (settled === undefined) isSettled = true
      void settled?.then(() => {
        isSettled = true
      })
    },
    isSettled: async () => {
      await settle()
      return isSettled
    },
  }
}

test("an activation without calls in flight ends at once", async () => {
  const { calls, wait, isSettled, clock } = stand()
  calls.made()
  calls.left()
  calls.ended()
  wait()
  expect([await isSettled(), clock.pendingTimers]).toEqual([true, 0])
})

test("an activation without waiting callers waits until all its calls have ended", async () => {
  const { calls, wait, isSettled, clock } = stand()
  calls.made()
  calls.made()
  wait()
  calls.left()
  calls.left()
  calls.ended()
  expect(await isSettled()).toBe(false)
  calls.ended()
  expect([await isSettled(), clock.pendingTimers]).toEqual([true, 0])
})

test("an activation with waiting callers waits only for calls that have not left", async () => {
  const { calls, end, wait, isSettled } = stand()
  end.isWanted = true
  calls.made()
  wait()
  expect(await isSettled()).toBe(false)
  calls.left()
  expect(await isSettled()).toBe(true)
})

test("a caller that arrives during the wait ends the wait for calls that have left", async () => {
  const { calls, end, wait, isSettled } = stand()
  calls.made()
  calls.left()
  wait()
  expect(await isSettled()).toBe(false)
  end.isWanted = true
  calls.recheck()
  expect(await isSettled()).toBe(true)
})

test("a call that came back counts as not left", async () => {
  const { calls, end, wait, isSettled } = stand()
  end.isWanted = true
  calls.made()
  calls.left()
  calls.returned()
  wait()
  expect(await isSettled()).toBe(false)
  calls.left()
  expect(await isSettled()).toBe(true)
})

test.each(["isWanted", "isLeaving"] as const)(
  "the wait for calls that cannot leave is given up after a second if %s",
  async (why) => {
    const { calls, end, wait, isSettled, clock } = stand()
    end[why] = true
    calls.made()
    wait()
    await clock.advance(999)
    expect(await isSettled()).toBe(false)
    await clock.advance(1)
    expect(await isSettled()).toBe(true)
  },
)

test("the wait for calls that cannot leave is otherwise given up after the timeout of a call", async () => {
  const { calls, wait, isSettled, clock } = stand()
  calls.made()
  wait()
  await clock.advance(4_999)
  expect(await isSettled()).toBe(false)
  await clock.advance(1)
  expect([await isSettled(), clock.pendingTimers]).toEqual([true, 0])
})

test("the end of the tenure ends the wait", async () => {
  const { calls, end, wait, isSettled } = stand()
  calls.made()
  wait()
  end.isFenced = true
  calls.recheck()
  expect(await isSettled()).toBe(true)
})

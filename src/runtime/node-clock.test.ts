import * as perfHooks from "node:perf_hooks"
import { afterEach, expect, test, vi } from "vitest"
import { nodeClock } from "./node-clock.js"

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** Fakes timers and the monotonic clock, of which the runner replaces only the global. */
function fakeTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] })
  vi.spyOn(perfHooks.performance, "now").mockImplementation(() => globalThis.performance.now())
}

const dayMs = 86_400_000

test("the wall clock is the system's", () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_700_000_000_123 })
  expect(nodeClock.wallMs()).toBe(1_700_000_000_123)
})

test("the wall clock is read once in each turn of the event loop", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_000 })
  await nextTurn()
  const readings = [nodeClock.wallMs()]
  vi.setSystemTime(2_000)
  readings.push(nodeClock.wallMs())
  await Promise.resolve()
  readings.push(nodeClock.wallMs())
  await nextTurn()
  readings.push(nodeClock.wallMs())
  vi.setSystemTime(3_000)
  await new Promise((resolve) => setTimeout(resolve))
  readings.push(nodeClock.wallMs())
  expect(readings).toEqual([1_000, 1_000, 1_000, 2_000, 3_000])
})

test("the monotonic clock counts milliseconds, with fractions, and never goes back", () => {
  const before = Number(process.hrtime.bigint()) / 1e6
  const readings = Array.from({ length: 1_000 }, () => nodeClock.monotonicMs())
  const after = Number(process.hrtime.bigint()) / 1e6
  expect([before, ...readings, after]).toEqual([before, ...readings, after].toSorted((a, b) => a - b))
  expect(new Set(readings).size).toBeGreaterThan(1)
  expect(readings.at(-1)).toBeLessThan((readings[0] ?? 0) + 1_000)
})

test("a timer fires once, when its delay has passed", () => {
  fakeTime()
  const fire = vi.fn()
  nodeClock.setTimer(1_000, fire)
  vi.advanceTimersByTime(999)
  expect(fire).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(fire).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(dayMs)
  expect(fire).toHaveBeenCalledTimes(1)
})

test("a delay longer than Node can sleep is slept in stretches", () => {
  fakeTime()
  const fire = vi.fn()
  nodeClock.setTimer(60 * dayMs, fire)
  vi.advanceTimersByTime(60 * dayMs - 1)
  expect(fire).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(fire).toHaveBeenCalledTimes(1)
})

test("a cancelled timer does not fire, also when it is cancelled between two stretches", () => {
  fakeTime()
  const fire = vi.fn()
  const timer = nodeClock.setTimer(60 * dayMs, fire)
  vi.advanceTimersByTime(30 * dayMs)
  timer.cancel()
  timer.cancel()
  expect(vi.getTimerCount()).toBe(0)
  vi.advanceTimersByTime(60 * dayMs)
  expect(fire).not.toHaveBeenCalled()
})

test("a timer may be cancelled by what it runs", () => {
  fakeTime()
  const fire = vi.fn(() => timer.cancel())
  const timer = nodeClock.setTimer(5, fire)
  vi.advanceTimersByTime(5)
  expect(fire).toHaveBeenCalledTimes(1)
})

test("a timeout that wakes before the monotonic clock got there does not fire", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  const fire = vi.fn()
  nodeClock.setTimer(1_000_000, fire)
  vi.advanceTimersByTime(1_000_000)
  expect(fire).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(1)
})

test("after a long turn a timer still waits its whole delay", async () => {
  const began = nodeClock.monotonicMs()
  while (nodeClock.monotonicMs() < began + 20);
  const setAt = nodeClock.monotonicMs()
  const firedAt = await new Promise<number>((resolve) => {
    nodeClock.setTimer(10.5, () => resolve(nodeClock.monotonicMs()))
  })
  expect(firedAt - setAt).toBeGreaterThanOrEqual(10.5)
})

test.each([0, -5])("a delay of %d fires soon, and not inside the call", async (delayMs) => {
  let inside = true
  const firedInside = new Promise<boolean>((resolve) => {
    nodeClock.setTimer(delayMs, () => resolve(inside))
  })
  inside = false
  expect(await firedInside).toBe(false)
})

test.each([Number.NaN, Number.POSITIVE_INFINITY])("a delay of %d is an assertion", (delayMs) => {
  expect(() => nodeClock.setTimer(delayMs, () => {})).toThrow(/must be a finite number/)
})

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

import { expect, it } from "vitest"
import { LockBackoff } from "./lock-backoff.js"

/** Holds the lock for a while, from then on. */
function hold(backoff: LockBackoff, at: number, forMs: number): number {
  backoff.took(at)
  backoff.released(at + forMs)
  return at + forMs
}

it("takes the lock again at once if there are no other processes", () => {
  const backoff = new LockBackoff()
  expect(backoff.restMs(0)).toBe(0)
  const now = hold(backoff, 0, 2)
  expect(backoff.restMs(now)).toBe(0)
})

it("leaves the lock alone for as long as the longest sleep after it found it taken", () => {
  const backoff = new LockBackoff()
  const naps = [0, 0.5, 1].map((chance) => backoff.busy(0, chance))
  const now = hold(backoff, 1, 2)
  expect(backoff.restMs(now)).toBe(Math.max(...naps))
  expect(backoff.restMs(now + 0.75)).toBe(0.25)
  expect(backoff.restMs(now + 5)).toBe(0)
  expect(Math.min(...naps)).toBeGreaterThan(0)
})

it("sleeps through about half of the time that is left until its usual turn, then asks often", () => {
  const backoff = new LockBackoff()
  for (let turn = 0; turn < 40; turn += 1) {
    backoff.busy(turn * 100, 0)
    hold(backoff, turn * 100 + 16, 1)
  }
  const naps = [0, 4, 8, 12, 15.9, 16, 50].map((waitedMs) => backoff.busy(10_000 + waitedMs, 0.5))
  expect(naps.map((ms) => Math.round(ms * 2) / 2)).toEqual([8, 6, 4, 2, 0.5, 0.5, 0.5])
})

it("forgets a long wait after a few short ones, and never sleeps for long", () => {
  const backoff = new LockBackoff()
  backoff.busy(0, 0)
  hold(backoff, 4_000, 1)
  expect(backoff.busy(5_000, 0.5)).toBe(20)
  for (let turn = 0; turn < 30; turn += 1) hold(backoff, 5_000 + turn * 100, 1)
  expect(backoff.busy(9_000, 0.5)).toBeLessThan(1)
})

it("also rests after commits of other processes, and stops when there were none for a while", () => {
  const backoff = new LockBackoff()
  backoff.sawOthers(0)
  expect(backoff.restMs(hold(backoff, 0, 50))).toBe(1)
  expect(backoff.restMs(hold(backoff, 110, 2))).toBe(0)
})

it("rests from time to time without a sign of others, which have no turn to give one", () => {
  const backoff = new LockBackoff()
  let now = 0
  let rests = 0
  for (let turn = 0; turn < 1_000; turn += 1) {
    const restMs = backoff.restMs(now)
    if (restMs > 0) rests += 1
    now = hold(backoff, now + restMs, 1)
  }
  expect(rests).toBeGreaterThan(15)
  expect(rests).toBeLessThan(25)
})

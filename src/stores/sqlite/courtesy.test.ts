import { expect, it } from "vitest"
import { Courtesy } from "./courtesy.js"

/** Holds the lock for a while, from then on. */
function hold(courtesy: Courtesy, at: number, forMs: number): number {
  courtesy.took(at)
  courtesy.released(at + forMs)
  return at + forMs
}

it("takes the lock again at once while it is alone", () => {
  const courtesy = new Courtesy()
  expect(courtesy.restMs(0)).toBe(0)
  const now = hold(courtesy, 0, 2)
  expect(courtesy.restMs(now)).toBe(0)
})

it("leaves the lock alone for as long as the longest nap after it found it taken", () => {
  const courtesy = new Courtesy()
  const naps = [0, 0.5, 1].map((chance) => courtesy.busy(0, chance))
  const now = hold(courtesy, 1, 2)
  expect(courtesy.restMs(now)).toBe(Math.max(...naps))
  expect(courtesy.restMs(now + 0.75)).toBe(0.25)
  expect(courtesy.restMs(now + 5)).toBe(0)
  expect(Math.min(...naps)).toBeGreaterThan(0)
})

it("does so as well when it sees what others have committed, and stops when there was nothing for a while", () => {
  const courtesy = new Courtesy()
  courtesy.sawOthers(0)
  expect(courtesy.restMs(hold(courtesy, 0, 50))).toBe(1)
  expect(courtesy.restMs(hold(courtesy, 110, 2))).toBe(0)
})

it("rests now and then without a sign of others, who could give none while they get nothing", () => {
  const courtesy = new Courtesy()
  let now = 0
  let rests = 0
  for (let turn = 0; turn < 1_000; turn += 1) {
    const restMs = courtesy.restMs(now)
    if (restMs > 0) rests += 1
    now = hold(courtesy, now + restMs, 1)
  }
  expect(rests).toBeGreaterThan(15)
  expect(rests).toBeLessThan(25)
})

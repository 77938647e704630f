import { expect, it } from "vitest"
import { LookTimes } from "./look-times.js"

it("looks from time to time without a notice, and soon after one, but not too often", () => {
  const times = new LookTimes(250)
  expect(times.idleMs(0)).toBe(0)
  times.looks(1_000)
  expect(times.idleMs(1_000)).toBe(250)
  expect(times.noticedMs(1_003)).toBe(7)
  expect(times.noticedMs(1_100)).toBe(0)
})

it("looks as often as it may if there are no notices", () => {
  const times = new LookTimes(250)
  times.unnoticed()
  times.looks(1_000)
  expect(times.idleMs(1_000)).toBe(10)
})

it("looks more often still if the setting says so", () => {
  const times = new LookTimes(2)
  times.looks(1_000)
  expect([times.idleMs(1_000), times.noticedMs(1_000)]).toEqual([2, 2])
})

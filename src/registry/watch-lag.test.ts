import { expect, test } from "vitest"
import { WatchLag } from "./watch-lag.js"

const [one, other] = ["a", "b"]

function at(revision: number, node = one as string) {
  return { node, revision }
}

test("a renewal that was confirmed by one check has to be shown by the next", () => {
  const lag = new WatchLag()
  expect(lag.check(at(7))).toBe(false)
  lag.shown(at(7))
  expect(lag.check(at(8))).toBe(false)
  expect(lag.check(at(9))).toBe(true)
  lag.shown(at(8))
  expect(lag.check(at(10))).toBe(true)
  lag.shown(at(10))
  expect(lag.check(at(10))).toBe(false)
})

test("a watch that shows every renewal, each too late, lags all the time", () => {
  const lag = new WatchLag()
  lag.check(at(1))
  for (let revision = 2; revision < 10; revision += 1) {
    expect(lag.check(at(revision))).toBe(true)
    lag.shown(at(revision - 1))
  }
})

test("a later renewal that is shown stands for those before it", () => {
  const lag = new WatchLag()
  lag.check(at(7))
  lag.shown(at(9))
  expect(lag.check(at(8))).toBe(false)
  expect(lag.check(at(9))).toBe(false)
})

test("without a lease, and from one incarnation to the next, nothing is expected", () => {
  const lag = new WatchLag()
  expect(lag.check(undefined)).toBe(false)
  expect(lag.check(at(7))).toBe(false)
  expect(lag.check(undefined)).toBe(false)
  expect(lag.check(at(7))).toBe(false)
  lag.shown(at(7))
  expect(lag.check(at(20, other))).toBe(false)
  lag.shown(at(30))
  expect(lag.check(at(21, other))).toBe(true)
})

import { performance as imported } from "node:perf_hooks"
import namespace, { hrtime, uptime } from "node:process"
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { ManualWorld } from "../../../test/fake/manual-world.js"
import { installAmbient } from "./install-ambient.js"

let uninstall: () => void
beforeAll(() => {
  uninstall = installAmbient(() => ManualWorld.current)
})
afterAll(() => uninstall())

test("the monotonic clock is the world's inside a world, under all of its names", () => {
  const world = new ManualWorld()
  world.advance(3_000.25)
  world.within(() => {
    expect([performance.now(), imported.now()]).toEqual([3_000.25, 3_000.25])
    for (const one of [process.hrtime, namespace.hrtime, hrtime]) {
      expect(one()).toEqual([3, 250_000])
      expect(one.bigint()).toBe(3_000_250_000n)
    }
    expect([process.uptime(), uptime()]).toEqual([3.00025, 3.00025])
  })
})

test("hrtime returns the difference to its argument", () => {
  const world = new ManualWorld()
  world.advance(1_999)
  const since = world.within(() => process.hrtime())
  world.advance(2)
  world.within(() => {
    expect(process.hrtime(since)).toEqual([0, 2_000_000])
    expect(process.hrtime([5, 1])).toEqual([-3, 1_000_000 - 1])
    expect(() => process.hrtime([1] as never)).toThrow(RangeError)
  })
})

test("the origin of performance.now is in the world's wall time, and stays where it is", () => {
  const world = new ManualWorld({ beganAtMs: 5_000 })
  world.advance(1_000)
  const origin = () => world.within(() => [performance.timeOrigin, imported.timeOrigin])
  expect(origin()).toEqual([5_000, 5_000])
  const wall = vi.spyOn(world, "wallMs").mockReturnValue(1)
  expect(origin()).toEqual([5_000, 5_000])
  wall.mockRestore()
  expect(new ManualWorld({ beganAtMs: 6_000 }).within(() => performance.timeOrigin)).toBe(6_000)
})

test("outside worlds the clocks are the machine's, and their other members are unchanged", () => {
  expect(Math.abs(performance.timeOrigin + performance.now() - Date.now())).toBeLessThan(60_000)
  const before = process.hrtime.bigint()
  expect(performance.now()).toBeGreaterThan(0)
  expect(hrtime.bigint()).toBeGreaterThan(before)
  expect(hrtime([0, 0])[0]).toBe(hrtime()[0])
  expect(uptime()).toBeGreaterThan(0)
  expect(() => Reflect.apply(performance.now, undefined, [])).toThrow(TypeError)
})

import perfHooks, { performance as imported, type MeasureOptions } from "node:perf_hooks"
import { afterAll, beforeAll, expect, test } from "vitest"
import { ManualWorld } from "../../../test/fake/manual-world.js"
import { installAmbient } from "./install-ambient.js"

let uninstall: () => void
beforeAll(() => {
  uninstall = installAmbient(() => ManualWorld.current)
})
afterAll(() => uninstall())

function worldAt(ms: number): ManualWorld {
  const world = new ManualWorld()
  world.advance(ms)
  return world
}

test("a mark has the time of the world, or the one that is given", () => {
  worldAt(3_000.25).within(() => {
    for (const { mark } of [performance, imported]) {
      const of = (...args: Parameters<typeof mark>) => Reflect.apply(mark, performance, args)
      expect(of("a")).toMatchObject({ name: "a", entryType: "mark", startTime: 3_000.25, detail: null })
      expect(of("a", { startTime: 7, detail: "d" })).toMatchObject({ startTime: 7, detail: "d" })
    }
    for (const { PerformanceMark } of [globalThis, perfHooks]) {
      const made = Reflect.construct(PerformanceMark, ["b"])
      expect(made).toMatchObject({ name: "b", startTime: 3_000.25 })
      expect(made).toBeInstanceOf(PerformanceMark)
    }
    expect(() => performance.mark("a", { startTime: -1 })).toThrow(TypeError)
  })
})

test("a measure is between the times of the world", () => {
  const world = worldAt(100)
  world.within(() => performance.mark("start"))
  world.advance(50)
  world.within(() => performance.mark("end"))
  world.advance(50)
  const measured = (...args: unknown[]) => {
    const { startTime, duration } = world.within(() =>
      Reflect.apply(performance.measure, performance, args as [string, MeasureOptions]),
    )
    return [startTime, startTime + duration]
  }
  expect(measured("m")).toEqual([0, 200])
  expect(measured("m", {})).toEqual([0, 200])
  expect(measured("m", "start")).toEqual([100, 200])
  expect(measured("m", "start", "end")).toEqual([100, 150])
  expect(measured("m", undefined, "end")).toEqual([0, 150])
  expect(measured("m", { start: "end" })).toEqual([150, 200])
  expect(measured("m", { start: 10, end: "end" })).toEqual([10, 150])
  expect(measured("m", { start: "start", duration: 5 })).toEqual([100, 105])
  expect(measured("m", { end: "end", duration: 5 })).toEqual([145, 150])
  expect(() => measured("m", "never")).toThrow("never")
  expect(measured("m", { detail: "d" })).toEqual([0, 200])
  expect(() => measured("m", { start: "start" }, "end")).toThrow(TypeError)
})

test("a world knows only its own marks, and leaves none behind", () => {
  const world = worldAt(1)
  const entries = performance.getEntries().length
  world.within(() => {
    performance.mark("mine")
    performance.measure("mine", "mine")
  })
  expect(performance.getEntries()).toHaveLength(entries)
  expect(() => performance.measure("m", "mine")).toThrow("mine")
  expect(() => worldAt(2).within(() => performance.measure("m", "mine"))).toThrow("mine")
  world.within(() => {
    performance.mark("other")
    performance.clearMarks("mine")
    expect(() => performance.measure("m", "mine")).toThrow("mine")
    performance.measure("m", "other")
    performance.clearMarks()
    expect(() => performance.measure("m", "other")).toThrow("other")
  })
})

test("outside worlds marks and measures are Node's own", () => {
  const before = performance.now()
  expect(performance.mark("outside").startTime).toBeGreaterThanOrEqual(before)
  expect(Reflect.construct(PerformanceMark, ["b"]).startTime).toBeGreaterThanOrEqual(before)
  expect(performance.measure("m", "outside").startTime).toBeGreaterThanOrEqual(before)
  expect(performance.getEntriesByName("outside")).toHaveLength(1)
  performance.clearMarks("outside")
  performance.clearMeasures("m")
  expect(performance.getEntriesByName("outside")).toEqual([])
})

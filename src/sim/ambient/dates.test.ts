import { afterAll, beforeAll, expect, test } from "vitest"
import { ManualWorld } from "../../../test/fake/manual-world.js"
import { installAmbient } from "./install-ambient.js"

let uninstall: () => void
beforeAll(() => {
  uninstall = installAmbient(() => ManualWorld.current)
})
afterAll(() => uninstall())

const beganAtMs = Date.UTC(2001, 1, 3, 4, 5, 6, 7)

test("the date is the world's inside a world, in every way to read it", () => {
  const world = new ManualWorld({ beganAtMs: beganAtMs + 0.5 })
  world.within(() => {
    expect(Date.now()).toBe(beganAtMs)
    expect(new Date().getTime()).toBe(beganAtMs)
    expect(Reflect.construct(Date, []).getTime()).toBe(beganAtMs)
    expect(Date()).toBe(new Date(beganAtMs).toString())
  })
  world.advance(1_000)
  expect(world.within(() => Date.now())).toBe(beganAtMs + 1_000)
})

test("the date is the machine's outside worlds", () => {
  const year2020 = Date.UTC(2020)
  expect(Date.now()).toBeGreaterThan(year2020)
  expect(new Date().getTime()).toBeGreaterThan(year2020)
  expect(new Date(Date()).getTime()).toBeGreaterThan(year2020)
})

test("a given date is not changed", () => {
  new ManualWorld().within(() => {
    expect(new Date(5).getTime()).toBe(5)
    expect(new Date("2024-05-06T00:00:00Z").getTime()).toBe(Date.UTC(2024, 4, 6))
    expect(new Date(2024, 4, 6, 7).getHours()).toBe(7)
    expect(new Date(Number.NaN).getTime()).toBeNaN()
    expect(Reflect.construct(Date, [undefined]).getTime()).toBeNaN()
    expect(Date.parse("1970-01-01T00:00:01Z")).toBe(1_000)
    expect([Date.length, Date.name]).toEqual([7, "Date"])
  })
})

test("dates from inside and outside are instances of Date on both sides", () => {
  const world = new ManualWorld()
  const inside = world.within(() => new Date())
  const outside = new Date()
  for (const date of [inside, outside]) {
    expect(date).toBeInstanceOf(Date)
    expect(date.constructor).toBe(Date)
    expect(world.within(() => date instanceof Date)).toBe(true)
    expect(structuredClone(date)).toEqual(date)
  }
})

test("a subclass has the world's date", () => {
  class Day extends Date {
    noon = 12
  }
  const day = new ManualWorld({ beganAtMs }).within(() => new Day())
  expect(day).toBeInstanceOf(Day)
  expect([day.getTime(), day.noon]).toEqual([beganAtMs, 12])
  expect(new Day(7).getTime()).toBe(7)
  expect(new Day().getTime()).toBeGreaterThan(beganAtMs)
})

test("a format without a date uses the world's", () => {
  const format = new Intl.DateTimeFormat("en", { timeZone: "UTC", dateStyle: "short" })
  expect(format.format).toBe(format.format)
  const world = new ManualWorld({ beganAtMs })
  expect(world.within(() => format.format())).toBe("2/3/01")
  expect(world.within(() => [0].map(format.format))).toEqual(["1/1/70"])
  expect(world.within(() => format.formatToParts().at(-1))).toEqual({ type: "year", value: "01" })
  expect(format.format()).not.toBe("2/3/01")
})

import { afterAll, beforeAll, expect, test } from "vitest"
import { ManualWorld } from "../../../test/fake/manual-world.js"
import { installAmbient } from "./install-ambient.js"

/** The part of `Temporal` that tells the present, in UTC, for versions of Node that have none. */
class FakeInstant {
  readonly #iso: string

  constructor(iso: string) {
    this.#iso = iso.slice(0, -1)
  }

  static fromEpochMilliseconds(ms: number): FakeInstant {
    if (!Number.isInteger(ms)) throw new RangeError(`${ms} is not a whole number`)
    return new FakeInstant(new Date(ms).toISOString())
  }

  toString(): string {
    return `${this.#iso}Z`
  }

  toZonedDateTimeISO(zone: string) {
    if (typeof zone !== "string") throw new TypeError("not a time zone")
    const [date = "", time = ""] = this.#iso.split("T")
    return {
      toString: () => `${this.#iso}+00:00[${zone}]`,
      toPlainDateTime: () => this.#iso,
      toPlainDate: () => date,
      toPlainTime: () => time,
    }
  }
}

const realPresent = "2020-01-01T00:00:00.000Z"
const fakeNow = () => new FakeInstant(realPresent)
const fakeTemporal = {
  Instant: FakeInstant,
  Now: {
    timeZoneId: () => "UTC",
    instant: fakeNow,
    zonedDateTimeISO: (zone = "UTC") => fakeNow().toZonedDateTimeISO(zone),
    plainDateTimeISO: (zone = "UTC") => fakeNow().toZonedDateTimeISO(zone).toPlainDateTime(),
    plainDateISO: (zone = "UTC") => fakeNow().toZonedDateTimeISO(zone).toPlainDate(),
    plainTimeISO: (zone = "UTC") => fakeNow().toZonedDateTimeISO(zone).toPlainTime(),
  },
}

type Readings = Record<Exclude<keyof typeof fakeTemporal.Now, "timeZoneId">, (zone?: unknown) => unknown>

const before = Object.getOwnPropertyDescriptor(globalThis, "Temporal")
const temporal: typeof fakeTemporal = before?.value ?? fakeTemporal
const readings = temporal.Now as Readings
const realFunctions = { ...Object.getOwnPropertyDescriptors(readings) }

let uninstall: () => void
beforeAll(() => {
  Object.defineProperty(globalThis, "Temporal", { value: temporal, configurable: true, writable: true })
  uninstall = installAmbient(() => ManualWorld.current)
})
afterAll(() => {
  if (before === undefined) Reflect.deleteProperty(globalThis, "Temporal")
})

const beganAtMs = Date.UTC(2001, 1, 3, 4, 5, 6, 7)
const world = new ManualWorld({ beganAtMs: beganAtMs + 0.5 })

test("the present of Temporal is the world's inside a world, in every way to read it", () => {
  const read = (name: keyof Readings) => world.within(() => String(readings[name]("UTC")))
  expect(world.within(() => String(readings.instant()))).toBe("2001-02-03T04:05:06.007Z")
  expect(read("zonedDateTimeISO")).toBe("2001-02-03T04:05:06.007+00:00[UTC]")
  expect(read("plainDateTimeISO")).toBe("2001-02-03T04:05:06.007")
  expect(read("plainDateISO")).toBe("2001-02-03")
  expect(read("plainTimeISO")).toBe("04:05:06.007")
})

test("without a time zone, that of the process is used, and a wrong one is refused", () => {
  world.within(() => {
    expect(String(readings.zonedDateTimeISO())).toContain(`[${temporal.Now.timeZoneId()}]`)
    expect(() => readings.plainDateISO(null)).toThrow(TypeError)
  })
})

test("outside worlds, and after the uninstall, the present is the machine's", () => {
  const year = () => Number(String(readings.plainDateISO()).slice(0, 4))
  expect(year()).toBeGreaterThan(2019)
  expect(Number(String(readings.instant()).slice(0, 4))).toBeGreaterThan(2019)
  uninstall()
  expect(Object.getOwnPropertyDescriptors(readings)).toEqual(realFunctions)
  expect(world.within(year)).toBeGreaterThan(2019)
})

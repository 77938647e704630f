import { describe, expect, test } from "vitest"
import { InvalidMessageError } from "../errors/call-errors.js"
import { KEYS_IN_A_BATCH, KeyTime, LEAST_MEASURED } from "./key-time.js"

describe("the time that is given to keys which collide", () => {
  test.each([0.000_005, 0.000_05, 0.001])("is bounded where to compare two takes %f ms", (compareMs) => {
    const clock = new Time()
    const keyTime = new KeyTime(clock)
    keyTime.begin()
    const set = new SlowSet(clock, (size) => size * compareMs)
    expect(() => fill(keyTime, set, 200_000)).toThrow(InvalidMessageError)
    expect(clock.now).toBeLessThan(150)
  })

  test("is bounded where they are many in advance, and collide only at the end", () => {
    const clock = new Time()
    const keyTime = new KeyTime(clock)
    keyTime.begin()
    const set = new SlowSet(clock, (size) => (size < 100_000 ? 0 : 1))
    expect(() => fill(keyTime, set, 200_000)).toThrow(InvalidMessageError)
    expect(clock.now).toBeLessThan(100 + KEYS_IN_A_BATCH + 10)
  })

  test("is not raised by keys that are there already", () => {
    const clock = new Time()
    const keyTime = new KeyTime(clock)
    keyTime.begin()
    const set = new SlowSet(clock, (size) => size * 0.000_05)
    const same = new Array<number>(KEYS_IN_A_BATCH).fill(0)
    for (let count = 0; count < 200_000; count += KEYS_IN_A_BATCH) keyTime.addAll(set, same)
    expect(() => fill(keyTime, set, 50_000)).toThrow(InvalidMessageError)
    expect(clock.now).toBeLessThan(150)
  })

  test("is less than 200 ms in a message of 250,000 of which most are honest", () => {
    const clock = new Time()
    const keyTime = new KeyTime(clock)
    keyTime.begin()
    const set = new SlowSet(clock, (size) => (size < 230_000 ? 0.000_1 : 0.05))
    expect(() => fill(keyTime, set, 250_000)).toThrow(InvalidMessageError)
    expect(clock.now).toBeLessThan(200)
  })

  test("is bounded over many sets which are small each", () => {
    const clock = new Time()
    const keyTime = new KeyTime(clock)
    keyTime.begin()
    const few = Array.from({ length: LEAST_MEASURED }, (_, key) => key)
    expect(() => {
      for (let sets = 0; sets < 10_000; sets += 1) {
        keyTime.addAll(new SlowSet(clock, () => 0.01), few)
      }
    }).toThrow(InvalidMessageError)
    expect(clock.now).toBeLessThan(120)
  })
})

test.each([100_000, 1_000_000])(
  "%i honest keys are added, on a busy machine, while their table grows",
  (count) => {
    const clock = new Time()
    const keyTime = new KeyTime(clock)
    keyTime.begin()
    // To make the table twice as large, a batch takes as long as all that are in it.
    const set = new SlowSet(clock, (size) => 0.000_6 + ((size & (size - 1)) === 0 ? size * 0.000_1 : 0))
    fill(keyTime, set, count)
    expect(set.size).toBe(count)
  },
)

test("a process that stands still again and again, for whatever time, has honest keys added", () => {
  const clock = new Time()
  const keyTime = new KeyTime(clock)
  keyTime.begin()
  const set = new SlowSet(clock, (size) => (size % 8_000 === 0 ? 5_000 : 0.000_1))
  fill(keyTime, set, 60_000)
  expect(set.size).toBe(60_000)
})

test("the keys of maps count as those of sets do", () => {
  const clock = new Time()
  const keyTime = new KeyTime(clock)
  keyTime.begin()
  const slow = new (class extends Map<unknown, unknown> {
    override set(key: unknown, value: unknown): this {
      clock.now += 1
      return super.set(key, value)
    }
  })()
  const entries = Array.from({ length: 2 * LEAST_MEASURED }, (_, at) => at)
  expect(() => {
    for (let batches = 0; batches < 100; batches += 1) keyTime.setAll(slow, entries)
  }).toThrow(InvalidMessageError)
  expect(clock.now).toBeLessThan(250)
  expect([...slow].slice(0, 2)).toEqual([
    [0, 1],
    [2, 3],
  ])
})

function fill(keyTime: KeyTime, set: Set<unknown>, count: number): void {
  for (let from = 0; from < count; from += KEYS_IN_A_BATCH) {
    const length = Math.min(KEYS_IN_A_BATCH, count - from)
    keyTime.addAll(
      set,
      Array.from({ length }, (_, at) => from + at),
    )
  }
}

class Time {
  now = 0

  monotonicMs(): number {
    return this.now
  }
}

/** To add one takes as long as the test says. */
class SlowSet extends Set<unknown> {
  readonly #clock: Time
  readonly #costMs: (size: number) => number

  constructor(clock: Time, costMs: (size: number) => number) {
    super()
    this.#clock = clock
    this.#costMs = costMs
  }

  override add(key: unknown): this {
    this.#clock.now += this.#costMs(this.size)
    return super.add(key)
  }
}

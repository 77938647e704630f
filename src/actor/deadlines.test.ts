import fc from "fast-check"
import { expect, test } from "vitest"
import { ManualClock } from "../../test/fake/manual-clock.js"
import type { Timer } from "../ports/clock.js"
import { type Deadline, Deadlines, leave } from "./deadlines.js"

test.each([0, 0.1, 1, 4, 5, 6, 9.9, 10, 999, 1_000, 30_000])(
  "a deadline of %d ms is never early and at most slightly late, wherever in a slot it is added",
  async (delayMs) => {
    for (let offset = 0; offset < 5; offset += 1) {
      const clock = new CountingClock()
      await clock.advance(1_000 + offset)
      const deadlines = new Deadlines(clock)
      const entry = new Entry(clock, delayMs)
      deadlines.add(entry, delayMs)
      await clock.advance(delayMs + soonMs(delayMs))
      expect(entry.late).toHaveLength(1)
      expect(entry.worst).toBeGreaterThanOrEqual(0)
    }
  },
)

test("no deadline is early or much late while others are added", async () => {
  const clock = new CountingClock()
  const deadlines = new Deadlines(clock)
  const entries: Entry[] = []
  await clock.advance(3)
  for (let entered = 0; entered < 300; entered += 1) {
    const delayMs = (entered * 37) % 150
    const entry = new Entry(clock, delayMs)
    deadlines.add(entry, delayMs)
    entries.push(entry)
    await clock.advance(entered % 3)
  }
  await clock.advance(200)
  expect(entries.map(({ late }) => late.length)).toEqual(entries.map(() => 1))
  expect(Math.min(...entries.map(({ worst }) => worst))).toBeGreaterThanOrEqual(0)
  expect(Math.max(...entries.map(({ worst }) => worst))).toBeLessThanOrEqual(SOON_MS)
  expect(deadlines.size).toBe(0)
})

test("deadlines that expire together fire in the order in which they were added", async () => {
  const clock = new CountingClock()
  const deadlines = new Deadlines(clock)
  const fired: string[] = []
  for (const name of ["first", "second", "third"]) {
    deadlines.add(
      deadline(() => fired.push(name)),
      50,
    )
  }
  await clock.advance(60)
  expect(fired).toEqual(["first", "second", "third"])
})

test("uses one timer for any number of deadlines", async () => {
  const clock = new CountingClock()
  const deadlines = new Deadlines(clock)
  for (let entered = 0; entered < 1_000; entered += 1) {
    deadlines.add(new Entry(clock, entered), entered)
    expect(clock.pendingTimers).toBe(1)
  }
  expect(deadlines.size).toBe(1_000)
  expect(clock.timersSet).toBe(1)
  for (let passed = 0; passed < 1_100; passed += 1) {
    await clock.advance(1)
    expect(clock.pendingTimers).toBeLessThanOrEqual(1)
  }
  expect(deadlines.size).toBe(0)
})

test("a removed deadline does not fire, and the others do", async () => {
  const clock = new CountingClock()
  const deadlines = new Deadlines(clock)
  const entries = ["first", "middle", "last"].map(() => new Entry(clock, 20))
  for (const entry of entries) deadlines.add(entry, 20)
  const [first, middle, last] = entries as [Entry, Entry, Entry]
  leave(middle)
  expect(deadlines.size).toBe(2)
  leave(middle)
  await clock.advance(40)
  expect([first, middle, last].map(({ late }) => late.length)).toEqual([1, 0, 1])
  leave(first)
})

test("a deadline that was removed or has fired can be added again", async () => {
  const clock = new CountingClock()
  const deadlines = new Deadlines(clock)
  const entry = new Entry(clock, 20)
  deadlines.add(entry, 20)
  leave(entry)
  deadlines.add(entry, 20)
  await clock.advance(40)
  expect(entry.late).toHaveLength(1)
  deadlines.add(entry, 20)
  await clock.advance(40)
  expect(entry.late).toHaveLength(2)
})

test("does not wake up during a long wait without new entries", async () => {
  const clock = new CountingClock()
  const deadlines = new Deadlines(clock)
  const entry = new Entry(clock, 3_600_000)
  deadlines.add(entry, 3_600_000)
  await clock.advance(3_599_999)
  expect(entry.late).toEqual([])
  expect(clock.timersSet).toBeLessThanOrEqual(4)
  await clock.advance(soonMs(3_600_000))
  expect(entry.late).toHaveLength(1)
})

test("keeps long deadlines in few rings, and none is early", async () => {
  const clock = new CountingClock()
  const deadlines = new Deadlines(clock)
  const entries: Entry[] = []
  for (let entered = 0; entered < 3_000; entered += 1) {
    const delayMs = 3_600_000 * (1 + (entered % 4))
    const entry = new Entry(clock, delayMs)
    deadlines.add(entry, delayMs)
    entries.push(entry)
    await clock.advance(300)
  }
  expect(deadlines.rings).toBeLessThan(4 * 260)
  expect(deadlines.size).toBe(3_000)
  await clock.advance(4 * 3_600_000 + soonMs(4 * 3_600_000))
  expect(entries.map(({ late }) => late.length)).toEqual(entries.map(() => 1))
  expect(Math.min(...entries.map(({ worst }) => worst))).toBeGreaterThanOrEqual(0)
  expect([deadlines.rings, deadlines.size]).toEqual([0, 0])
})

test("sets no timer once all deadlines have been removed", async () => {
  const clock = new CountingClock()
  const deadlines = new Deadlines(clock)
  for (let entered = 0; entered < 100; entered += 1) {
    const entry = new Entry(clock, 30_000)
    deadlines.add(entry, 30_000)
    leave(entry)
  }
  await clock.advance(soonMs(30_000))
  expect(clock.pendingTimers).toBe(0)
  const set = clock.timersSet
  await clock.advance(60_000)
  expect(clock.timersSet).toBe(set)
})

test("an entry added during a long wait is on time, and so is the one waited for", async () => {
  const clock = new CountingClock()
  const deadlines = new Deadlines(clock)
  const far = new Entry(clock, 1_000)
  deadlines.add(far, 1_000)
  await clock.advance(500)
  const near = new Entry(clock, 10)
  deadlines.add(near, 10)
  expect(clock.pendingTimers).toBe(1)
  await clock.advance(10 + SOON_MS)
  expect([far.late.length, near.late.length]).toEqual([0, 1])
  expect(near.worst).toBeLessThanOrEqual(SOON_MS)
  await clock.advance(500)
  expect(far.late).toHaveLength(1)
  expect(far.worst).toBeLessThanOrEqual(soonMs(1_000))
})

test("an entry added by an expiring one is on time", async () => {
  const clock = new CountingClock()
  const deadlines = new Deadlines(clock)
  const rounds: Entry[] = []
  const again = () => {
    if (rounds.length === 5) return
    const entry = new Entry(clock, 7, again)
    rounds.push(entry)
    deadlines.add(entry, 7)
  }
  again()
  await clock.advance(200)
  expect(rounds.map(({ late }) => late.length)).toEqual([1, 1, 1, 1, 1])
  expect(Math.min(...rounds.map(({ worst }) => worst))).toBeGreaterThanOrEqual(0)
  expect(Math.max(...rounds.map(({ worst }) => worst))).toBeLessThanOrEqual(SOON_MS)
  expect(clock.pendingTimers).toBe(0)
})

test("an entry added with no delay by an expiring one does not fire in the same tick", async () => {
  const clock = new CountingClock()
  const deadlines = new Deadlines(clock)
  let fired = 0
  const again = deadline(() => {
    fired += 1
    if (fired < 3) deadlines.add(again, 0)
  })
  deadlines.add(again, 0)
  await clock.advance(5)
  expect(fired).toBe(1)
  await clock.advance(5)
  expect(fired).toBe(2)
  await clock.advance(50)
  expect(fired).toBe(3)
})

test("no deadline is early or much late for any sequence of additions and removals", async () => {
  const step = fc.record({ delayMs: fc.nat(60), thenMs: fc.nat(25), leaves: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
      const clock = new CountingClock()
      const deadlines = new Deadlines(clock)
      const entries: Entry[] = []
      for (const { delayMs, thenMs, leaves } of steps) {
        const entry = new Entry(clock, delayMs)
        deadlines.add(entry, delayMs)
        if (leaves) leave(entry)
        else entries.push(entry)
        await clock.advance(thenMs)
      }
      await clock.advance(100)
      for (const entry of entries) {
        expect(entry.late).toHaveLength(1)
        expect(entry.worst).toBeGreaterThanOrEqual(0)
        expect(entry.worst).toBeLessThanOrEqual(SOON_MS)
      }
    }),
    { numRuns: 100 },
  )
})

test("no deadline is early if the event loop was blocked before it was added", async () => {
  const clock = new CountingClock()
  const deadlines = new Deadlines(clock)
  deadlines.add(new Entry(clock, 1), 1)
  clock.heldUpMs += 100
  const entry = new Entry(clock, 50)
  deadlines.add(entry, 50)
  await clock.advance(100)
  expect(entry.late).toHaveLength(1)
  expect(entry.worst).toBeGreaterThanOrEqual(0)
})

test("a deadline abandoned by stop does not fire, and no timer remains", async () => {
  const clock = new CountingClock()
  const deadlines = new Deadlines(clock)
  const entries = [10, 1_000].map((delayMs) => new Entry(clock, delayMs))
  for (const entry of entries) deadlines.add(entry, 10)
  deadlines.stop()
  expect(clock.pendingTimers).toBe(0)
  expect(deadlines.size).toBe(0)
  await clock.advance(2_000)
  expect(entries.map(({ late }) => late.length)).toEqual([0, 0])
  expect(entries.map(({ abandoned }) => abandoned)).toEqual([1, 1])
  for (const entry of entries) leave(entry)
})

class Entry implements Deadline {
  previous: Deadline["previous"] = undefined
  next: Deadline["next"] = undefined
  /** How late it fired, each time. */
  readonly late: number[] = []
  abandoned = 0
  readonly #clock: ManualClock
  readonly #delayMs: number
  readonly #dueMs: number
  readonly #then: () => void

  constructor(clock: ManualClock, delayMs: number, then = () => {}) {
    this.#clock = clock
    this.#delayMs = delayMs
    this.#dueMs = clock.monotonicMs() + delayMs
    this.#then = then
  }

  get worst(): number {
    const [late = Number.NaN] = this.late
    return Math.round(late * 1_000) / 1_000
  }

  expire(): void {
    expect(this.next, `the deadline of ${this.#delayMs} ms has left`).toBeUndefined()
    this.late.push(this.#clock.monotonicMs() - this.#dueMs)
    this.#then()
  }

  abandon(): void {
    expect(this.next, `the deadline of ${this.#delayMs} ms has left`).toBeUndefined()
    this.abandoned += 1
  }
}

/** Three slots, and a fourth if the timer was set anew in between. */
const SOON_MS = 20

/** Long deadlines may be late by 1/32, up to a quarter of a second. */
function soonMs(delayMs: number): number {
  return SOON_MS + Math.min(delayMs / 32, 250) + (delayMs > 60_000 ? delayMs / 128 : 0)
}

class CountingClock extends ManualClock {
  timersSet = 0
  /** The time that has passed without timers firing. */
  heldUpMs = 0

  override monotonicMs(): number {
    return super.monotonicMs() + this.heldUpMs
  }

  override setTimer(delayMs: number, fire: () => void): Timer {
    this.timersSet += 1
    return super.setTimer(delayMs, fire)
  }
}

function deadline(expire: () => void): Deadline {
  return { previous: undefined, next: undefined, expire, abandon: () => {} }
}

test("an entry added after stop is abandoned at once, without a timer", async () => {
  const clock = new CountingClock()
  const deadlines = new Deadlines(clock)
  const ended: string[] = []
  const entry = (name: string): Deadline => ({
    previous: undefined,
    next: undefined,
    expire: () => ended.push(`${name} expired`),
    abandon: () => ended.push(`${name} abandoned`),
  })
  deadlines.add(entry("before"), 1_000)
  deadlines.stop()
  for (const name of ["after", "again"]) deadlines.add(entry(name), 1_000)
  expect(ended).toEqual(["before abandoned", "after abandoned", "again abandoned"])
  expect([clock.pendingTimers, deadlines.size]).toEqual([0, 0])
  await clock.advance(5_000)
  expect(ended).toHaveLength(3)
})

test("an entry that throws does not delay the others, and its error reaches the caller", async () => {
  const clock = new CountingClock()
  const deadlines = new Deadlines(clock)
  const fired: string[] = []
  const failing = (name: string) =>
    deadline(() => {
      fired.push(name)
      throw new RangeError(name)
    })
  for (const name of ["first", "second"]) deadlines.add(failing(name), 50)
  deadlines.add(
    deadline(() => fired.push("third")),
    50,
  )
  deadlines.add(
    deadline(() => fired.push("later")),
    5_000,
  )
  await expect(clock.advance(100)).rejects.toThrow("2 deadlines failed")
  expect(fired).toEqual(["first", "second", "third"])
  await clock.advance(6_000)
  expect(fired).toEqual(["first", "second", "third", "later"])
})

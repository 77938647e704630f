import fc from "fast-check"
import { expect, test } from "vitest"
import { Agenda, type Step } from "./agenda.js"
import { SeededRandom } from "./seeded-random.js"

const none = () => {}

function drained(agenda: Agenda): { label: string; at: number }[] {
  const taken: { label: string; at: number }[] = []
  for (let step = agenda.take(); step !== undefined; step = agenda.take()) {
    taken.push({ label: step.label, at: agenda.now })
  }
  return taken
}

test("the seed determines the order of steps that are due at one instant", () => {
  const orderOf = (seed: number) => {
    const agenda = new Agenda(new SeededRandom(seed))
    for (const label of "abc") agenda.add(5, undefined, label, none)
    return drained(agenda)
      .map(({ label }) => label)
      .join("")
  }
  const orders = Array.from({ length: 200 }, (_, seed) => orderOf(seed))
  expect(new Set(orders)).toEqual(new Set(["abc", "acb", "bac", "bca", "cab", "cba"]))
  expect(Array.from({ length: 200 }, (_, seed) => orderOf(seed))).toEqual(orders)
})

test("time advances only when no step is ready", () => {
  const agenda = new Agenda(new SeededRandom(1))
  agenda.add(10, undefined, "later", none)
  agenda.add(0, undefined, "now", none)
  expect(agenda.take()?.label).toBe("now")
  expect(agenda.now).toBe(0)
  for (let more = 0; more < 100; more += 1) {
    agenda.add(agenda.now, undefined, "more", none)
    expect(agenda.take()?.label).toBe("more")
    expect(agenda.now).toBe(0)
  }
  expect(agenda.take()?.label).toBe("later")
  expect(agenda.now).toBe(10)
  expect(agenda.take()).toBeUndefined()
  expect(agenda.now).toBe(10)
  expect(agenda.isEmpty).toBe(true)
})

test("time does not advance to a cancelled step", () => {
  const agenda = new Agenda(new SeededRandom(1))
  agenda.add(10, undefined, "cancelled", none).cancelled = true
  expect(agenda.take()).toBeUndefined()
  expect(agenda.now).toBe(0)
})

test("a step that is cancelled while it is ready is not taken", () => {
  for (let seed = 0; seed < 20; seed += 1) {
    const agenda = new Agenda(new SeededRandom(seed))
    const steps = ["a", "b"].map((label) => agenda.add(5, undefined, label, none))
    const first = agenda.take() as Step
    for (const step of steps) step.cancelled = true
    expect(steps).toContain(first)
    expect(agenda.take()).toBeUndefined()
  }
})

test("a rescheduled step is taken once, at its new time", () => {
  const agenda = new Agenda(new SeededRandom(1))
  agenda.add(1, undefined, "early", none)
  agenda.again(7, agenda.take() as Step)
  agenda.add(3, undefined, "between", none)
  expect(drained(agenda)).toEqual([
    { label: "between", at: 3 },
    { label: "early", at: 7 },
  ])
})

test("every step that is not cancelled is taken once, in order of time, at its time", () => {
  const entry = fc.record({ at: fc.nat({ max: 50 }), cancelled: fc.boolean(), beforehand: fc.boolean() })
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 200, size: "max" }), fc.nat(), (entries, seed) => {
      const agenda = new Agenda(new SeededRandom(seed))
      const expected: { label: string; at: number }[] = []
      const taken: { label: string; at: number }[] = []
      for (const [index, { at, cancelled, beforehand }] of entries.entries()) {
        const step = agenda.add(Math.max(at, agenda.now), undefined, `${index}`, none)
        if (cancelled) step.cancelled = true
        else expected.push({ label: `${index}`, at: Math.max(at, agenda.now) })
        const early = beforehand ? agenda.take() : undefined
        if (early !== undefined) taken.push({ label: early.label, at: agenda.now })
      }
      taken.push(...drained(agenda))
      const times = taken.map(({ at }) => at)
      expect(times).toEqual([...times].sort((a, b) => a - b))
      const byLabel = (a: { label: string }, b: { label: string }) => Number(a.label) - Number(b.label)
      expect([...taken].sort(byLabel)).toEqual(expected)
    }),
  )
})

import { describe, expect, it } from "vitest"
import { type Fault, faultKinds } from "./fault.js"
import { type ScheduleOptions, schedule } from "./schedule.js"

const options: ScheduleOptions = {
  seed: 1,
  durationMs: 180_000,
  nodes: 4,
  clients: 3,
  kinds: faultKinds,
  ttlMs: 2_000,
  downMs: 8_000,
  roundMs: 5_000,
}

describe("a schedule", () => {
  it("is the same for the same seed, and another for another", () => {
    expect(schedule(options)).toEqual(schedule(options))
    expect(schedule({ ...options, seed: 2 })).not.toEqual(schedule(options))
  })

  it("has all kinds of faults, in the time there is", () => {
    const planned = schedule(options)
    expect(new Set(planned.map(({ fault }) => fault.kind))).toEqual(new Set(faultKinds))
    expect(planned.every(({ atMs }) => atMs < options.durationMs)).toBe(true)
  })

  it("has only those that are asked for", () => {
    const planned = schedule({ ...options, kinds: ["pause", "reset"] })
    expect(new Set(planned.map(({ fault }) => fault.kind))).toEqual(new Set(["pause", "reset"]))
  })

  it("lets half of the nodes alone at any time", () => {
    const busy = schedule(options).flatMap(({ atMs, fault }) =>
      "node" in fault ? [{ node: fault.node, from: atMs, to: atMs + fault.ms }] : [],
    )
    for (const { from } of busy) {
      const nodes = new Set(busy.filter((one) => one.from <= from && from < one.to).map(({ node }) => node))
      expect(nodes.size).toBeLessThanOrEqual(2)
    }
  })

  it("pauses for less than a lease lasts, and freezes for longer than others wait", () => {
    const lengths = (kind: Fault["kind"]) =>
      schedule(options).flatMap(({ fault }) => (fault.kind === kind ? [fault.ms] : []))
    expect(Math.max(...lengths("pause"))).toBeLessThan(options.ttlMs * 0.9)
    expect(Math.min(...lengths("freeze"))).toBeGreaterThan(options.ttlMs * 1.1)
    expect(Math.min(...lengths("late-save"))).toBeGreaterThan(options.ttlMs * 1.1 + options.roundMs)
    expect(Math.min(...lengths("isolate"))).toBeGreaterThanOrEqual(options.downMs)
  })

  it("never cuts anybody off from itself", () => {
    for (const { fault } of schedule(options)) {
      if (fault.kind === "cut" || fault.kind === "reset") expect(fault.from).not.toBe(fault.to)
    }
  })
})

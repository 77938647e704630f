import { describe, expect, it } from "vitest"
import { calibrate, type Instruments, inTurn, measure, rounds } from "./measure.js"
import type { ThroughputRow, Workload } from "./row.js"

describe("calibration", () => {
  it.each([0.000_01, 0.002, 1, 7, 30])("finds a sample's worth of operations of %d ms", async (costMs) => {
    const operations = await calibrate(async (asked) => asked * costMs)
    expect(operations * costMs).toBeGreaterThanOrEqual(50)
    expect(operations * costMs).toBeLessThanOrEqual(100)
  })

  it("samples a long operation alone", async () => {
    const asked: number[] = []
    expect(
      await calibrate(async (operations) => {
        asked.push(operations)
        return operations * 3_000
      }),
    ).toBe(1)
    expect(asked).toEqual([1])
  })

  it("takes no fewer than make sense, however long they take", async () => {
    const asked: number[] = []
    const timeMs = async (operations: number) => {
      asked.push(operations)
      return operations * 5
    }
    expect(await calibrate(timeMs, 1, 64)).toBe(64)
    expect(asked).toEqual([64])
    expect(await calibrate(timeMs, 4_000, 64)).toBe(64)
    expect(await calibrate(async (operations) => operations / 10, 1, 64)).toBe(640)
  })

  it("comes down from a guess that is too high", async () => {
    expect(await calibrate(async (operations) => operations * 5, 4_000)).toBe(15)
  })

  it("does not take a stall for the time of an operation", async () => {
    const stalls = [60]
    const operations = await calibrate(async (count) => stalls.shift() ?? count)
    expect(operations).toBeGreaterThanOrEqual(50)
  })

  it("does not trust the first, cold samples", async () => {
    const asked: number[] = []
    await calibrate(async (operations) => {
      asked.push(operations)
      return asked.length === 1 ? 0.01 : operations
    })
    expect(asked).toEqual([1, 10, 75, 75])
  })

  it("tells a run that does nothing", async () => {
    await expect(calibrate(async () => 0)).rejects.toThrow("takes no time")
  })

  it("settles for what it has when the times make no sense", async () => {
    let asked = 0
    await calibrate(async () => {
      asked += 1
      return asked % 2 === 0 ? 1 : 1_000 * asked
    }, 100)
    expect(asked).toBe(40)
  })
})

describe("a race", () => {
  it("lets the other go first in every other round", () => {
    expect([0, 1, 2].flatMap((round) => inTurn(["ours", "limit"], round))).toEqual(
      "ours limit limit ours ours limit".split(" "),
    )
  })

  it("reports medians, their ratio and nothing that was not measured", async () => {
    const world = fakeWorld()
    const row = throughput(world.workload("ours", 0.5), world.workload("limit", 0.1))
    const { value, limit, ratio, ...rest } = await measure(row, world.instruments)
    expect(value).toBeCloseTo(2_000)
    expect(limit).toBeCloseTo(10_000)
    expect(ratio).toBeCloseTo(0.2)
    expect(rest).toEqual({})
  })

  it("is not swayed by a few slow samples", async () => {
    const world = fakeWorld()
    const row = throughput(
      world.workload("ours", 0.5, { everyThirdSlower: 50 }),
      world.workload("limit", 0.5),
    )
    expect((await measure(row, world.instruments)).ratio).toBeCloseTo(1)
  })

  it("warms both up, then samples them in turn with the garbage collected", async () => {
    const world = fakeWorld()
    await measure(throughput(world.workload("ours", 1), world.workload("limit", 1)), world.instruments)
    const from = world.events.indexOf("gc")
    const expected = Array.from({ length: rounds }, (_, round) =>
      inTurn(["ours", "limit"], round).flatMap((name) => ["gc", name]),
    )
    expect(world.events.slice(from)).toEqual([...expected.flat(), "ours ended", "limit ended"])
    const before = world.events.slice(0, from)
    for (const name of ["ours", "limit"]) {
      expect(before.filter((event) => event === name).length).toBeGreaterThan(5)
    }
    expect(rounds).toBeGreaterThanOrEqual(9)
  })

  it("takes the latencies of ours, by their medians", async () => {
    const world = fakeWorld()
    let sample = 0
    const ours = world.workload("ours", 1, { latency: () => ({ p50Us: sample++ % 3, p99Us: 9 }) })
    const limit = world.workload("limit", 1, { latency: () => ({ p50Us: 70, p99Us: 90 }) })
    expect(await measure(throughput(ours, limit), world.instruments)).toMatchObject({ p50Us: 1, p99Us: 9 })
  })

  it("needs no opponent", async () => {
    const world = fakeWorld()
    const { value, ...rest } = await measure(throughput(world.workload("ours", 1)), world.instruments)
    expect(value).toBeCloseTo(1_000)
    expect(rest).toEqual({})
  })

  it("says how far it is", async () => {
    const world = fakeWorld()
    await measure(throughput(world.workload("ours", 1)), world.instruments)
    expect(world.said.slice(0, 3)).toEqual(["setting up", "warming up", `round 1 of ${rounds}`])
    expect(world.said.at(-1)).toBe(`round ${rounds} of ${rounds}`)
  })
})

describe("a free row", () => {
  it("measures by itself and may say how far it is", async () => {
    const { instruments, said } = fakeWorld()
    const result = await measure(
      {
        kind: "free",
        name: "bytes",
        unit: "bytes",
        measure: (progress) => {
          progress("counting")
          return { value: 7, p99Us: 1 }
        },
      },
      instruments,
    )
    expect(result).toEqual({ value: 7, p99Us: 1 })
    expect(said).toEqual(["counting"])
  })
})

function throughput(ours: Workload, limit?: Workload): ThroughputRow {
  const row = { kind: "throughput", name: "row", unit: "ops/s", ours: { setup: () => ours } } as const
  return limit === undefined ? row : { ...row, limit: { setup: async () => limit } }
}

/** Time passes only while a workload runs, by what its operations cost. */
function fakeWorld() {
  let nowMs = 0
  const events: string[] = []
  const said: string[] = []
  const instruments: Instruments = {
    nowMs: () => nowMs,
    collectGarbage: () => events.push("gc"),
    progress: (what) => said.push(what),
  }
  const workload = (name: string, costMs: number, quirks: Quirks = {}): Workload => {
    let runs = 0
    return {
      run(operations) {
        events.push(name)
        runs += 1
        const slower = runs % 3 === 0 ? (quirks.everyThirdSlower ?? 1) : 1
        nowMs += operations * costMs * slower
        return quirks.latency?.()
      },
      teardown: () => {
        events.push(`${name} ended`)
      },
    }
  }
  return { events, said, instruments, workload }
}

interface Quirks {
  readonly everyThirdSlower?: number
  readonly latency?: () => { p50Us: number; p99Us: number }
}

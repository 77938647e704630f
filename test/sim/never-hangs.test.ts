import { describe, expect, test } from "vitest"
import {
  allFaults,
  noFaults,
  runSeed,
  type SeedFailure,
  type SeedOptions,
  type SimulationReport,
  type Stage,
  simulate,
  type Workload,
} from "../../src/sim/index.js"

const never = () => new Promise<never>(() => {})

function workload(run: (stage: Stage) => Promise<void>, more: Partial<Workload> = {}): Workload {
  return { name: "test", about: "", run, ...more }
}

async function failureOf(
  run: (stage: Stage) => Promise<void>,
  more: Partial<Workload> = {},
  options: SeedOptions = { faults: noFaults() },
): Promise<SeedFailure | undefined> {
  return (await runSeed(workload(run, more), 1, options)).failure
}

test("a workload that succeeds has no failure", async () => {
  expect(await failureOf(async (stage) => void (await stage.sleep(5)))).toBeUndefined()
})

describe("a run that would not end", () => {
  test("because no step is left says what the workload waits for", async () => {
    const failure = await failureOf(async (stage) => {
      stage.start("alpha", () => {})
      stage.start("beta", () => {})
      await stage.sleep(5)
      stage.crash("beta")
      await stage.on("alpha", never)
    })
    expect(failure).toMatchObject({
      what: "deadlock",
      detail: "no step is left to run; the workload waits for an answer from alpha; up: alpha",
    })
  })

  test("because the workload waits for a promise of its own says so", async () => {
    expect(await failureOf(never)).toEqual({
      what: "deadlock",
      detail: "no step is left to run; the workload waits for a promise of its own; up: none",
    })
  })

  test("because of endless yields is stopped at that instant", async () => {
    const failure = await failureOf(
      async (stage) => {
        stage.start("alpha", ({ ports }) => {
          const again = () => ports.scheduler.yield(again)
          again()
        })
        await stage.sleep(5)
      },
      { limits: { stepsAtOneInstant: 1_000 } },
    )
    expect(failure).toMatchObject({ what: "endless loop", detail: "1000 steps at one instant, 0 ms" })
  })

  test("because of endless immediates is stopped as well", async () => {
    const failure = await failureOf(
      async (stage) => {
        stage.start("alpha", () => {
          const again = () => void setImmediate(again)
          again()
        })
        await stage.sleep(5)
      },
      { limits: { stepsAtOneInstant: 1_000 } },
    )
    expect(failure?.what).toBe("endless loop")
  })

  test("because of timers without a delay runs out of steps", async () => {
    const failure = await failureOf(
      async (stage) => {
        stage.start("alpha", ({ ports }) => {
          const again = () => void ports.clock.setTimer(0, again)
          again()
        })
        await stage.sleep(1_000)
      },
      { limits: { steps: 5_000 } },
    )
    expect(failure?.what).toBe("out of time")
    expect(failure?.detail).toContain("5000 steps")
  })

  test("because of an endless interval runs out of virtual time, and says what the workload waits for", async () => {
    const failure = await failureOf(
      async (stage) => {
        stage.start("alpha", () => void setInterval(() => {}, 1_000))
        await stage.on("alpha", never)
      },
      { limits: { virtualMs: 60_000 } },
    )
    expect(failure?.what).toBe("out of time")
    expect(failure?.detail).toContain("60000 virtual ms; the workload waits for an answer from alpha")
  })

  test("is stopped even while faults keep the world busy", async () => {
    const failure = await failureOf(never, { limits: { virtualMs: 60_000 } }, { faults: allFaults() })
    expect(failure?.what).toBe("out of time")
  })
})

describe("an uncaught error", () => {
  const programs: Record<string, () => void | Promise<void>> = {
    "a program that throws": () => {
      throw new Error("told to fail")
    },
    "a program that rejects": async () => {
      await null
      throw new Error("told to fail")
    },
    "an unhandled rejection": () => void Promise.reject(new Error("told to fail")),
    "a timer that throws": () =>
      void setTimeout(() => {
        throw new Error("told to fail")
      }, 5),
    "an immediate that throws": () =>
      void setImmediate(() => {
        throw new Error("told to fail")
      }),
    "a microtask that throws": () =>
      queueMicrotask(() => {
        throw new Error("told to fail")
      }),
    "a next tick that throws": () =>
      process.nextTick(() => {
        throw new Error("told to fail")
      }),
  }

  test.each(Object.keys(programs))("%s fails the run", async (name) => {
    const failure = await failureOf(async (stage) => {
      stage.start("alpha", () => programs[name]?.())
      await stage.sleep(10)
    })
    expect(failure?.what).toBe("uncaught")
    expect(failure?.detail).toContain("told to fail")
    expect(failure?.detail).toContain("never-hangs.test.ts")
  })

  test("is reported with its process", async () => {
    const failure = await failureOf(async (stage) => {
      stage.start("alpha", () => {})
      stage.start("beta", () => void setTimeout(() => Promise.reject(new Error("told to fail")), 5))
      await stage.sleep(10)
    })
    expect(failure?.detail).toMatch(/\bbeta\b/)
  })

  test("in the workload is reported as the workload's", async () => {
    const failure = await failureOf(async (stage) => {
      await stage.sleep(1)
      throw new Error("the workload is broken")
    })
    expect(failure?.what).toBe("workload")
    expect(failure?.detail).toContain("the workload is broken")
  })

  test("does not affect the next run", async () => {
    await failureOf(async () => {
      throw new Error("the workload is broken")
    })
    expect(await failureOf(async (stage) => stage.sleep(1))).toBeUndefined()
  })
})

describe("a failed assertion", () => {
  test("is reported from a program, even if its code swallows the error", async () => {
    const failure = await failureOf(async (stage) => {
      stage.start("alpha", (life) => {
        try {
          life.always("two and two are four", false, () => "they are five")
        } catch {
          // As programs do with unknown errors.
        }
      })
      await stage.sleep(10)
    })
    expect(failure).toMatchObject({
      what: "two and two are four",
      detail: "two and two are four: they are five",
    })
  })

  test("is reported from an asynchronous program", async () => {
    const failure = await failureOf(async (stage) => {
      stage.start("alpha", async (life) => {
        await null
        life.always("in the program", false)
      })
      await stage.sleep(10)
    })
    expect(failure?.what).toBe("in the program")
  })

  test("is reported from the workload", async () => {
    const failure = await failureOf(async (stage) => stage.always("in the workload", false))
    expect(failure?.what).toBe("in the workload")
  })

  test("is reported even if the workload swallows the error and then ends", async () => {
    const failure = await failureOf(async (stage) => {
      try {
        stage.always("to the last", false)
      } catch {
        // As above.
      }
    })
    expect(failure?.what).toBe("to the last")
  })

  test("is reported for an event of the last step", async () => {
    const failure = await failureOf(async (stage) => {
      stage.invariant("nothing bad", ({ kind }) => (kind === "bad" ? "it was bad" : undefined))
      await stage.sleep(1)
      stage.record({ kind: "bad" })
    })
    expect(failure).toMatchObject({ what: "nothing bad", detail: "nothing bad: it was bad" })
  })

  test("is reported when an invariant fails in the middle of a run", async () => {
    const failure = await failureOf(async (stage) => {
      stage.invariant("nothing bad", ({ kind }) => (kind === "bad" ? "it was bad" : undefined))
      stage.start("alpha", (life) => life.record({ kind: "bad" }))
      await stage.sleep(10)
    })
    expect(failure?.what).toBe("nothing bad")
  })
})

describe("many seeds", () => {
  const problemsOf = async (run: (stage: Stage) => Promise<void>, more: Partial<Workload> = {}) =>
    (await simulate(workload(run, more), { seeds: 4, faults: noFaults() })).problems

  test("that reached everything and met the floors have no problems", async () => {
    const run = async (stage: Stage) => {
      stage.invariant("looks", () => undefined)
      stage.record({ kind: "seen" })
      stage.sometimes("once in four", stage.random.chance(0.5))
      stage.operation(3)
      await stage.sleep(1)
    }
    expect(await problemsOf(run, { floors: { operations: 3 } })).toEqual([])
  })

  test("in which a sometimes was never reached name it", async () => {
    const run = async (stage: Stage) => stage.sometimes("the moon", false)
    expect(await problemsOf(run)).toEqual(["never reached: the moon"])
  })

  test("in which an invariant was never evaluated name it", async () => {
    const run = async (stage: Stage) => {
      stage.invariant("blind", () => false)
      stage.record({ kind: "seen" })
      await stage.sleep(1)
    }
    expect(await problemsOf(run)).toEqual(["never evaluated: blind"])
  })

  test("that missed a floor report how much they did", async () => {
    const run = async (stage: Stage) => {
      stage.operation(2)
      stage.sometimes("the moon")
    }
    const sometimes = { "the moon": 2, "the sun": 1 }
    expect(await problemsOf(run, { floors: { operations: 3, faults: 1, sometimes } })).toEqual([
      "8 operations in 4 seeds, which is below the floor of 3 for each",
      "0 faults in 4 seeds, which is below the floor of 1 for each",
      '4 times "the moon" in 4 seeds, which is below the floor of 2 for each',
      '0 times "the sun" in 4 seeds, which is below the floor of 1 for each',
    ])
    expect(await problemsOf(run, { floors: { sometimes: { "the moon": 1 } } })).toEqual([])
  })

  test("report each failed seed, with the end of its trace", async () => {
    const seen: number[] = []
    const report: SimulationReport = await simulate(
      workload(async (stage) => {
        stage.note("here")
        if (seen.length % 2 === 1) throw new Error("every other one")
      }),
      { seeds: 4, from: 10, onSeed: ({ seed }) => seen.push(seed) },
    )
    expect(seen).toEqual([10, 11, 12, 13])
    expect(report.failures.map(({ seed, failure }) => [seed, failure.what])).toEqual([
      [11, "workload"],
      [13, "workload"],
    ])
    expect(report.failures[0]?.tail.at(-1)).toContain("workload here")
  })
})

import { describe, expect, test } from "vitest"
import { SmallWorld, text } from "../../test/sim/small-world.js"
import { noFaults, ProcessDiedError, runSeed, type Stage } from "./index.js"
import type { SimProcess } from "./sim-process.js"

describe("a pause inside a call", () => {
  test("delays messages sent after it until it is over, but none sent before it", async () => {
    const small = pausing()
    const { near, far } = await small.connected()
    const arrivals: { text: string; at: number }[] = []
    far.onData = () => arrivals.push({ text: far.text, at: small.world.now })
    await small.run()
    const begun = small.world.now
    const paused = await small.on("alpha", (alpha) => {
      near.connection.write(text("before"))
      // The pause may begin in the write itself.
      const micros = pauseInCall(alpha)
      near.connection.write(text(" after"))
      return micros
    })
    expect(paused).toBeGreaterThanOrEqual(1_000)
    await small.run()
    expect(arrivals.map(({ text }) => text)).toEqual(["before", "before after"])
    expect(arrivals[0]?.at).toBeLessThan(begun + 2_000)
    expect(arrivals[1]?.at).toBeGreaterThanOrEqual(begun + paused + 100)
  })

  test("is visible in the clock right after the call", async () => {
    const small = pausing()
    await small.on("alpha", (alpha) => {
      const before = alpha.ports.clock.monotonicMs()
      const micros = pauseInCall(alpha)
      expect(alpha.ports.clock.monotonicMs() - before).toBeGreaterThan(micros / 1000 - 0.001)
    })
  })

  test("delays all other steps of the process until it is over: inputs, timers and yields", async () => {
    const small = pausing()
    const { near, far } = await small.connected()
    await small.run()
    const happened: { what: string; at: number }[] = []
    const note = (what: string) => () => void happened.push({ what, at: small.world.now })
    near.onData = note("data")
    const begun = small.world.now
    await small.on("alpha", (alpha) => {
      alpha.ports.clock.setTimer(0, note("timer"))
      alpha.ports.scheduler.yield(note("yield"))
      pauseInCall(alpha)
    })
    const { busyUntil } = small.process("alpha")
    expect(busyUntil).toBeGreaterThanOrEqual(begun + 1_000)
    await small.on("beta", () => far.connection.write(text("input")))
    const betaWroteAt = small.world.now
    await small.run()
    expect(betaWroteAt).toBeLessThan(busyUntil)
    expect(happened.map(({ what }) => what).sort()).toEqual(["data", "timer", "yield"])
    for (const { what, at } of happened) expect(at, what).toBeGreaterThanOrEqual(busyUntil)
  })

  test("a process that is killed during it never does what would have followed", async () => {
    for (let seed = 0; seed < 20; seed += 1) {
      const small = pausing(seed)
      const { near, far } = await small.connected()
      await small.run()
      await small.on("alpha", (alpha) => {
        near.connection.write(text("before"))
        pauseInCall(alpha)
        near.connection.write(text(" after"))
        alpha.ports.clock.setTimer(0, () => near.connection.write(text(" much later")))
      })
      // If the pause began in the write, nothing left either.
      small.world.crash("alpha")
      await small.run()
      expect(["before", ""]).toContain(far.text)
      expect(far.told.at(-1)).toBe("closed: Reset")
    }
  })

  test("does not begin after calm", async () => {
    const small = pausing()
    small.world.calm()
    await small.on("alpha", ({ ports }) => {
      for (let call = 0; call < 20_000; call += 1) ports.clock.monotonicMs()
    })
    expect(small.world.faultCounts.size).toBe(0)
  })
})

describe("a pause as a whole", () => {
  test("delays all steps of the process, and none of the others", async () => {
    const small = new SmallWorld()
    await small.run()
    const happened: string[] = []
    for (const name of ["alpha", "beta"]) {
      small.process(name).ports.clock.setTimer(5, () => happened.push(`${name} ${small.world.now / 1000}`))
    }
    small.process("alpha").pause(100_000)
    await small.run()
    expect(happened).toEqual(["beta 5.001", "alpha 100"])
  })
})

describe("a paused or suspended process", () => {
  test("runs the waiting steps when it resumes, and other processes do not wait for it", async () => {
    for (const kind of ["suspended", "paused"] as const) {
      const small = new SmallWorld()
      const { near, far } = await small.connected()
      await small.run()
      const happened: string[] = []
      near.onData = () => happened.push(`alpha ${near.text}`)
      far.onData = () => happened.push(`beta ${far.text}`)
      await small.on("alpha", () => near.connection.write(text("before")))
      small.process("alpha").halt(kind)
      small.process("alpha").ports.scheduler.yield(() => happened.push("alpha yield"))
      await small.on("beta", () => far.connection.write(text("meanwhile")))
      await small.run()
      expect(happened).toEqual(["beta before"])
      small.process("alpha").resume()
      await small.run()
      expect(happened.sort()).toEqual(["alpha meanwhile", "alpha yield", "beta before"])
    }
  })

  test("cannot be paused or suspended again", async () => {
    const small = pausing()
    await small.run()
    await small.on("alpha", (alpha) => {
      pauseInCall(alpha)
      expect(() => alpha.halt("suspended")).toThrow("alpha is already paused or suspended")
    })
    expect(() => small.process("alpha").halt("suspended")).toThrow("alpha is already paused or suspended")
    small.process("beta").halt("suspended")
    expect(() => small.process("beta").halt("paused")).toThrow("beta is already paused or suspended")
  })

  test("resumes after calm", async () => {
    const small = new SmallWorld()
    await small.run()
    const alpha = small.process("alpha")
    alpha.halt("paused")
    let done = false
    alpha.later(0, "task", () => {
      done = true
    })
    await small.run()
    expect(done).toBe(false)
    small.world.calm()
    await small.run()
    expect(done).toBe(true)
  })

  test("can be connected to when it is paused, but not when it is suspended", async () => {
    for (const kind of ["suspended", "paused"] as const) {
      const small = new SmallWorld()
      const at = { host: small.process("beta").machine.host, port: 7_000 }
      await small.on("beta", (beta) => beta.ports.network.listen(at, () => {}))
      small.process("beta").halt(kind)
      const connected = small.on("alpha", (alpha) => alpha.ports.network.connect(at, { timeoutMs: 1_000 }))
      if (kind === "paused") await connected
      else await expect(connected).rejects.toMatchObject({ code: "TimedOut" })
    }
  })

  test("that is killed runs no further steps, and its machine's monotonic clock continues where it stopped", async () => {
    const small = new SmallWorld()
    await small.run()
    const alpha = small.process("alpha")
    const before = alpha.ports.clock.monotonicMs()
    const happened: string[] = []
    alpha.ports.clock.setTimer(5, () => happened.push("timer"))
    alpha.halt("suspended")
    await small.runFor(10_000)
    small.world.crash("alpha")
    await small.runFor(1_000)
    small.world.boot("alpha")
    await small.run()
    expect(small.process("alpha").ports.clock.monotonicMs() - before).toBeCloseTo(1_000, 6)
    expect(happened).toEqual([])
  })
})

describe("yields", () => {
  test("run in the order given, after microtasks", async () => {
    for (let seed = 0; seed < 20; seed += 1) {
      const small = new SmallWorld({ seed })
      const order: string[] = []
      await small.on("alpha", ({ ports: { scheduler } }) => {
        for (const name of ["y1", "y2", "y3"]) scheduler.yield(() => order.push(name))
        for (const name of ["m1", "m2"]) scheduler.microtask(() => order.push(name))
      })
      await small.run()
      expect(order).toEqual(["m1", "m2", "y1", "y2", "y3"])
    }
  })
})

describe("a crash", () => {
  test("ends the timers and yields of the process", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    const happened: string[] = []
    await small.on("alpha", ({ ports: { clock, scheduler } }) => {
      clock.setTimer(5, () => happened.push("timer"))
      clock.setTimer(5, () => near.connection.write(text("from the grave")))
      scheduler.yield(() => happened.push("yield"))
      small.world.crash("alpha")
      clock.setTimer(5, () => happened.push("timer set by the dead"))
      scheduler.yield(() => happened.push("yield of the dead"))
    })
    await small.run()
    expect(happened).toEqual([])
    expect(far.text).toBe("")
  })

  test("is followed by another process on the same machine, which runs the program again", async () => {
    const lives: string[] = []
    await played(async (stage) => {
      stage.start("alpha", ({ name, host }) => void lives.push(`${name} at ${host}`))
      await stage.sleep(1)
      stage.crash("alpha")
      expect(stage.isUp("alpha")).toBe(false)
      stage.crash("alpha")
      stage.boot("alpha")
      stage.boot("alpha")
      expect(stage.isUp("alpha")).toBe(true)
      await stage.sleep(1)
    })
    expect(lives).toEqual(["alpha at 10.0.0.2", "alpha.2 at 10.0.0.2"])
  })

  test("before the program has started prevents the start", async () => {
    let started = 0
    await played(async (stage) => {
      stage.start("alpha", () => {
        started += 1
      })
      stage.crash("alpha")
      await stage.sleep(1)
    })
    expect(started).toBe(0)
  })

  test("rejects an awaited answer", async () => {
    await played(async (stage) => {
      stage.start("alpha", () => {})
      const answer = stage.on("alpha", () => new Promise<never>(() => {}))
      const outcome = expect(answer).rejects.toBeInstanceOf(ProcessDiedError)
      await stage.sleep(10)
      stage.crash("alpha")
      await outcome
      await expect(stage.on("alpha", () => 1)).rejects.toMatchObject({ code: "ProcessDied" })
      stage.boot("alpha")
      expect(await stage.on("alpha", () => 2)).toBe(2)
    })
  })

  test("events that a dead process records are ignored", async () => {
    const heard: unknown[] = []
    await played(async (stage) => {
      stage.invariant("hears", (event: { kind: string }) => void heard.push(event.kind))
      stage.start("alpha", () => {})
      await stage
        .on("alpha", (life) => {
          life.record({ kind: "alive" })
          stage.crash("alpha")
          life.record({ kind: "dead" })
        })
        .catch(() => {})
    })
    expect(heard).toEqual(["alive"])
  })
})

test("an error of a task is passed to the workload", async () => {
  await played(async (stage) => {
    stage.start("alpha", () => {})
    await expect(stage.on("alpha", () => Promise.reject(new Error("no")))).rejects.toThrow("no")
  })
})

test("log lines of a process are lines of the trace, without their fields", async () => {
  const lines: string[] = []
  await played(
    async (stage) => {
      stage.start("alpha", ({ ports }) =>
        ports.logger.with({ a: 1 }).log("warn", "careful", { error: new Error() }),
      )
      await stage.sleep(1)
    },
    (line) => lines.push(line),
  )
  expect(lines).toContain("           0 alpha log warn: careful")
})

function pausing(seed = 1): SmallWorld {
  return new SmallWorld({ seed, faults: { "pause-in-call": 1 } })
}

/** Makes calls until a pause begins in one; returns its length in microseconds. */
function pauseInCall(proc: SimProcess): number {
  const begun = proc.now
  while (proc.now === begun) proc.ports.clock.monotonicMs()
  return proc.now - begun
}

async function played(run: (stage: Stage) => Promise<void>, onTrace = (_line: string) => {}): Promise<void> {
  const { failure } = await runSeed({ name: "test", about: "", run }, 1, { faults: noFaults(), onTrace })
  expect(failure).toBeUndefined()
}

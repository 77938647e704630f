import { expect, test } from "vitest"
import { SmallWorld } from "../../test/sim/small-world.js"
import { allFaults, type Life, noFaults, runSeed } from "./index.js"

test("clocks run at the machine's own rate", async () => {
  const small = new SmallWorld({ faults: { "clock-drift": 1 } })
  const rates = new Set<number>()
  for (const name of ["alpha", "beta", "gamma"]) {
    const { clock } = small.process(name).ports
    const read = () => [clock.monotonicMs(), clock.wallMs()] as const
    const rate = small.world.machine(name).clockRate
    const [monotonic, wall] = read()
    const begun = small.world.now
    await small.runFor(100_000)
    const trueMs = (small.world.now - begun) / 1000
    expect(read()[0] - monotonic).toBeCloseTo(trueMs * rate, 3)
    expect(Math.abs(read()[1] - wall - trueMs * rate)).toBeLessThanOrEqual(1)
    expect(Math.abs(rate - 1)).toBeLessThanOrEqual(0.05)
    rates.add(rate)
  }
  expect(rates.size).toBe(3)
})

test("without drift all machines agree on the length of a second, but not on the time", async () => {
  const small = new SmallWorld()
  const clocks = ["alpha", "beta", "gamma"].map((name) => small.process(name).ports.clock)
  const before = clocks.map((clock) => clock.monotonicMs())
  await small.runFor(1_000)
  expect(clocks.map((clock, index) => clock.monotonicMs() - (before[index] as number))).toEqual([
    1_000, 1_000, 1_000,
  ])
  expect(new Set(clocks.map((clock) => clock.wallMs())).size).toBe(3)
})

test("wall time is an integer and may jump; monotonic time and timers are not affected", async () => {
  const small = new SmallWorld()
  const { clock } = small.process("alpha").ports
  let fired = false
  clock.setTimer(1_000, () => {
    fired = true
  })
  const [wall, monotonic] = [clock.wallMs(), clock.monotonicMs()]
  expect(Number.isInteger(wall)).toBe(true)
  small.world.machine("alpha").wallOffsetMs -= 50_000
  expect([clock.wallMs() - wall, clock.monotonicMs() - monotonic]).toEqual([-50_000, 0])
  await small.runFor(999)
  expect(fired).toBe(false)
  await small.runFor(2)
  expect(fired).toBe(true)
})

test("while a machine is suspended its wall time continues, its monotonic time stops, and timers are delayed", async () => {
  const small = new SmallWorld({ faults: { "clock-drift": 1 } })
  const alpha = small.process("alpha")
  const { clock } = alpha.ports
  const rate = small.world.machine("alpha").clockRate
  const fired: number[] = []
  await small.runFor(1_000)
  const monotonic = clock.monotonicMs()
  for (const delayMs of [100, 500, 5_000]) {
    clock.setTimer(delayMs, () => fired.push(clock.monotonicMs() - monotonic - delayMs))
  }
  clock.setTimer(500, () => fired.push(Number.NaN)).cancel()
  await small.runFor(200)
  expect(fired).toHaveLength(1)
  const [before, wall] = [clock.monotonicMs(), clock.wallMs()]
  alpha.halt("suspended")
  await small.runFor(60_000)
  expect(clock.monotonicMs()).toBe(before)
  alpha.resume()
  expect(clock.monotonicMs()).toBe(before)
  expect(clock.wallMs() - wall).toBeCloseTo(60_000 * rate, -1)
  await small.runFor(200)
  expect(fired).toHaveLength(1)
  await small.runFor(10_000)
  expect(fired).toHaveLength(3)
  for (const late of fired) expect(late >= 0 && late < 0.1, `${late}`).toBe(true)
})

test("a timer that sleeps again can be cancelled", async () => {
  const small = new SmallWorld()
  const alpha = small.process("alpha")
  await small.run()
  let fired = 0
  const timer = alpha.ports.clock.setTimer(500, () => {
    fired += 1
  })
  alpha.halt("suspended")
  await small.runFor(1_000)
  alpha.resume()
  await small.runFor(100)
  timer.cancel()
  await small.runFor(1_000)
  expect(fired).toBe(0)
})

test("a timer never fires inside the call that sets it, and fires once", async () => {
  for (const delayMs of [0, -5, 0.001, 1]) {
    const small = new SmallWorld()
    let fired = 0
    await small.on("alpha", ({ ports }) => {
      ports.clock.setTimer(delayMs, () => {
        fired += 1
      })
      expect(fired).toBe(0)
    })
    await small.run()
    expect(fired).toBe(1)
  }
})

test("a cancelled timer does not fire, however late it was cancelled", async () => {
  for (let seed = 0; seed < 20; seed += 1) {
    const small = new SmallWorld({ seed })
    const fired: string[] = []
    await small.on("alpha", ({ ports: { clock } }) => {
      const timers = ["a", "b"].map((name) =>
        clock.setTimer(5, () => {
          fired.push(name)
          for (const timer of timers) timer.cancel()
        }),
      )
    })
    await small.run()
    expect(fired).toHaveLength(1)
  }
})

test("a pause inside a step shows on the monotonic clock, and on the wall clock from the next step on", async () => {
  const small = new SmallWorld({ faults: { "pause-in-call": 1 } })
  let pausedMs = 0
  let wall = 0
  await small.on("alpha", ({ ports: { clock } }) => {
    wall = clock.wallMs()
    const begun = clock.monotonicMs()
    for (let reads = 0; reads < 20_000 && pausedMs < 100; reads += 1) pausedMs = clock.monotonicMs() - begun
    expect(pausedMs).toBeGreaterThanOrEqual(100)
    expect(clock.wallMs()).toBe(wall)
  })
  await small.run()
  await small.runFor(pausedMs + 10_000)
  expect(small.process("alpha").ports.clock.wallMs() - wall).toBeGreaterThanOrEqual(Math.floor(pausedMs))
})

test("a delay that is not a finite number is refused", () => {
  const { clock } = new SmallWorld().process("alpha").ports
  for (const delayMs of [Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => clock.setTimer(delayMs, () => {})).toThrow(RangeError)
  }
})

test("whatever strikes, no timer is early and no monotonic clock goes back, by the machine's own clock", async () => {
  let [pauses, timers] = [0, 0]
  for (let seed = 1; seed <= 40; seed += 1) {
    const read = new Map<string, number>()
    const watch = (life: Life) => {
      const { clock, random, scheduler } = life.ports
      const now = () => {
        const time = clock.monotonicMs()
        // A life that is killed in a pause has read times in it that never came.
        const before = read.get(life.name) ?? Number.NEGATIVE_INFINITY
        life.always("monotonic time does not go back", time >= before, () => `${time} after ${before}`)
        read.set(life.name, time)
        return time
      }
      const again = () => {
        for (let reads = 0; reads < 20; reads += 1) now()
        const delayMs = (random.uint32() % 100_000) / 333
        const setAt = now()
        clock.setTimer(delayMs, () => {
          timers += 1
          const late = now() - setAt
          life.always("a timer is not early", late >= delayMs, () => `${late} ms of ${delayMs}`)
          scheduler.yield(again)
        })
      }
      again()
    }
    const report = await runSeed(
      {
        name: "clocks",
        about: "",
        async run(stage) {
          for (const name of ["alpha", "beta"]) stage.start(name, watch)
          await stage.sleep(20_000)
        },
      },
      seed,
      { faults: seed % 4 === 0 ? noFaults() : allFaults() },
    )
    expect(report.failure).toBeUndefined()
    pauses += report.faults.get("pause-in-call") ?? 0
  }
  expect(pauses).toBeGreaterThan(100)
  expect(timers).toBeGreaterThan(1_000)
})

import { expect, test } from "vitest"
import { noFaults, runSeed, type SeedReport, type Stage } from "../../src/sim/index.js"
import { SmallWorld } from "./small-world.js"

function play(run: (stage: Stage) => Promise<void>, seed = 1, faults = noFaults()): Promise<SeedReport> {
  return runSeed({ name: "stage", about: "", run }, seed, { faults })
}

test("a task runs in a process whose program has begun", async () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const { failure } = await play(async (stage) => {
      let begun = false
      stage.start("alpha", () => {
        begun = true
      })
      stage.always("the program has begun", await stage.on("alpha", () => begun))
    }, seed)
    expect(failure, `seed ${seed}`).toBeUndefined()
  }
})

test("the answer of a task that was paused in a call comes when the pause is over", async () => {
  const { failure } = await play(
    async (stage) => {
      stage.start("alpha", () => {})
      const begunMs = stage.nowMs
      const pausedMs = await stage.on("alpha", ({ ports: { clock } }) => {
        const before = clock.monotonicMs()
        let after = before
        while (after === before) after = clock.monotonicMs()
        return after - before
      })
      stage.always("it is over", stage.nowMs - begunMs >= pausedMs - 0.001, () => `${stage.nowMs} ms`)
    },
    1,
    { ...noFaults(), "pause-in-call": 1 },
  )
  expect(failure).toBeUndefined()
})

test("a knob is drawn from the seed, and told", async () => {
  const drawn = new Set<unknown>()
  for (let seed = 1; seed <= 20; seed += 1) {
    let value = 0
    const { knobs } = await play(async (stage) => {
      value = stage.knob("size", [1, 2, 3])
    }, seed)
    expect(knobs.get("size")).toBe(value)
    drawn.add(value)
  }
  expect(drawn.size).toBe(3)
})

test("runs that are asked for at the same time come one after the other", async () => {
  let running = 0
  const run = async (stage: Stage) => {
    running += 1
    stage.always("alone", running === 1)
    await stage.sleep(100)
    running -= 1
  }
  const reports = await Promise.all([1, 2, 3].map((seed) => play(run, seed)))
  expect(reports.map(({ failure }) => failure)).toEqual([undefined, undefined, undefined])
})

test("a machine is started once, and one that is not there is named", async () => {
  await play(async (stage) => {
    stage.start("alpha", () => {})
    expect(() => stage.start("alpha", () => {})).toThrow("alpha already")
    expect(() => stage.crash("beta")).toThrow("there is no machine beta; there are alpha")
  })
})

test("a direction that was cut twice is open again when both cuts are taken back", () => {
  const small = new SmallWorld()
  const isCut = () => small.world.isCut(small.process("alpha"), small.process("beta"))
  const undo = [small.world.cut("alpha", "beta"), small.world.cut("alpha", "beta")]
  undo[0]?.()
  expect(isCut()).toBe(true)
  undo[1]?.()
  expect(isCut()).toBe(false)
})

test("taking back a cut that was healed, or was taken back before, leaves later cuts alone", () => {
  const small = new SmallWorld()
  const undo = small.world.cut("alpha", "beta")
  small.world.heal()
  small.world.cut("alpha", "beta")
  undo()
  expect(small.world.isCut(small.process("alpha"), small.process("beta"))).toBe(true)
})

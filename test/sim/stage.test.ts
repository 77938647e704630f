import { expect, test } from "vitest"
import { noFaults, runSeed, type SeedReport, type Stage } from "../../src/sim/index.js"
import { SmallWorld } from "./small-world.js"

function play(run: (stage: Stage) => Promise<void>, seed = 1, faults = noFaults()): Promise<SeedReport> {
  return runSeed({ name: "stage", about: "", run }, seed, { faults })
}

test("a task runs after the program of its process has started", async () => {
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

test("the answer of a task that was paused in a call arrives when the pause is over", async () => {
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

test("a knob is drawn from the seed, and reported", async () => {
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

test("concurrent runs are run one after another", async () => {
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

test("a machine can be started only once, and an unknown one is named in the error", async () => {
  await play(async (stage) => {
    stage.start("alpha", () => {})
    expect(() => stage.start("alpha", () => {})).toThrow("machine alpha already exists")
    expect(() => stage.crash("beta")).toThrow("machine beta does not exist; the machines are alpha")
  })
})

test("a direction that was cut twice is open again when both cuts are removed", () => {
  const small = new SmallWorld()
  const isCut = () => small.world.isCut(small.process("alpha"), small.process("beta"))
  const undo = [small.world.cut("alpha", "beta"), small.world.cut("alpha", "beta")]
  undo[0]?.()
  expect(isCut()).toBe(true)
  undo[1]?.()
  expect(isCut()).toBe(false)
})

test("removing a cut that is already healed or removed does not affect later cuts", () => {
  const small = new SmallWorld()
  const undo = small.world.cut("alpha", "beta")
  small.world.heal()
  small.world.cut("alpha", "beta")
  undo()
  expect(small.world.isCut(small.process("alpha"), small.process("beta"))).toBe(true)
})

test("a machine is paused, or suspended with its monotonic clock, for the given time", async () => {
  const { failure } = await play(async (stage) => {
    stage.start("alpha", () => {})
    const read = () =>
      stage.on("alpha", ({ ports: { clock } }) => [clock.wallMs(), clock.monotonicMs()] as const)
    for (const [kind, monotonicMs] of [
      ["pause", 5_000],
      ["suspend", 0],
    ] as const) {
      const [wall, monotonic] = await read()
      const begunMs = stage.nowMs
      stage[kind]("alpha", 5_000)
      const [wallAfter, monotonicAfter] = await read()
      const passed = [stage.nowMs - begunMs, wallAfter - wall, monotonicAfter - monotonic]
      stage.always(kind, `${passed}` === `5000,5000,${monotonicMs}`, () => `${passed}`)
    }
    stage.suspend("alpha", 1_000)
    stage.suspend("alpha", 9_000)
    const begunMs = stage.nowMs
    await read()
    stage.always("a paused or suspended machine is not changed", stage.nowMs - begunMs === 1_000)
  })
  expect(failure).toBeUndefined()
})

test("a watch receives the next relevant commit, however many others there were in between", async () => {
  const { failure } = await play(async (stage) => {
    stage.start("alpha", () => {})
    const shared = stage.store("store", { keptCommits: 2 })
    const told = await stage.on("alpha", async (life) => {
      const heard: string[] = []
      const store = await shared.provider(life).open("stage", life.ports)
      const { epoch, revision } = await store.list("nodes/")
      store.watch(
        "nodes/",
        { epoch, revision },
        {
          changed: (changes) => heard.push(...changes.map(({ key }) => key)),
          gap: () => heard.push("gap"),
        },
      )
      const value = new Uint8Array(0)
      const put = (key: string) =>
        store.commit({ epoch, conditions: [], writes: [{ kind: "put", key, value }] })
      for (let count = 0; count < 10; count += 1) await put(`leases/${count}`)
      await put("nodes/1")
      await put("leases/1")
      await put("nodes/2")
      return heard
    })
    await stage.sleep(1_000)
    stage.always("all of it", `${told}` === "nodes/1,nodes/2", () => `${told}`)
  })
  expect(failure).toBeUndefined()
})

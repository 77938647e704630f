import { expect, test } from "vitest"
import type { Connection } from "../ports/network.js"
import { allFaults, drawFaults, type FaultKind, faultKinds, noFaults } from "./faults.js"
import { type Life, runSeed, type Stage, type Workload } from "./index.js"
import { SeededRandom } from "./seeded-random.js"

const struckByTheNemesis: readonly FaultKind[] = [
  "crash",
  "pause",
  "partition",
  "one-way-partition",
  "reset",
  "clean-loss",
  "clock-jump",
  "suspend",
  "long-pause",
]

const machines = ["alpha", "beta", "gamma"]

/** Each machine always has a connection, so that there is something to cut. */
function connected(after: (stage: Stage) => Promise<void> = async () => {}): Workload {
  const handler = (closed: () => void) => ({ data() {}, drained() {}, ended() {}, closed })
  const program = (life: Life) => {
    const { network, clock } = life.ports
    const at = { host: life.host, port: 7_000 }
    const dial = () => {
      network
        .connect(at)
        .then((connection) => connection.attach(handler(dial)))
        .catch(() => clock.setTimer(100, dial))
    }
    void network.listen(at, (connection: Connection) => connection.attach(handler(() => {})))
    dial()
  }
  return {
    name: "connected",
    about: "",
    async run(stage) {
      for (const name of machines) stage.start(name, program)
      await stage.sleep(120_000)
      await after(stage)
    },
  }
}

test.each(struckByTheNemesis)("%s strikes when it is enabled, and no other fault does", async (kind) => {
  const { failure, faults } = await runSeed(connected(), 1, { faults: { ...noFaults(), [kind]: 1 } })
  expect(failure).toBeUndefined()
  expect([...faults.keys()]).toEqual([kind])
  expect(faults.get(kind)).toBeGreaterThan(5)
})

test.each([
  ["suspend", 1_000, 120_000],
  ["long-pause", 5_000, 60_000],
] as const)(
  "%s lasts for %i to %i ms, usually much less than the maximum",
  async (kind, shortestMs, longestMs) => {
    const lengths: number[] = []
    const onTrace = (line: string) => {
      const found = / fault \S+ \S+ for ([\d.]+) ms/.exec(line)
      if (found !== null) lengths.push(Number(found[1]))
    }
    for (let seed = 1; seed <= 20; seed += 1) {
      await runSeed(connected(), seed, { faults: { ...noFaults(), [kind]: 1 }, onTrace })
    }
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(shortestMs)
    expect(Math.max(...lengths)).toBeLessThanOrEqual(longestMs)
    expect(Math.max(...lengths)).toBeGreaterThan(longestMs * 0.8)
    expect(lengths.toSorted((a, b) => a - b)[lengths.length >> 1]).toBeLessThan(longestMs / 3)
  },
)

test("no fault strikes if none is enabled", async () => {
  expect((await runSeed(connected(), 1, { faults: noFaults() })).faults.size).toBe(0)
})

test("after calm no fault strikes, and every machine comes back", async () => {
  for (let seed = 1; seed <= 10; seed += 1) {
    const lines: string[] = []
    let up: boolean[] = []
    const workload = connected(async (stage) => {
      stage.calm()
      await stage.sleep(60_000)
      up = machines.map((name) => stage.isUp(name))
    })
    const onTrace = (line: string) => lines.push(line)
    expect((await runSeed(workload, seed, { faults: allFaults(), onTrace })).failure).toBeUndefined()
    const calm = lines.findIndex((line) => line.endsWith("world calm"))
    expect(calm).toBeGreaterThan(0)
    expect(lines.slice(calm).filter((line) => line.includes(" fault "))).toEqual([])
    expect(up).toEqual([true, true, true])
  }
})

test("a machine that is not killable is not killed", async () => {
  let lives = 0
  const run = async (stage: Stage) => {
    stage.start("rock", () => void lives++, { killable: false })
    await stage.sleep(120_000)
  }
  await runSeed({ name: "rock", about: "", run }, 1, { faults: { ...noFaults(), crash: 1 } })
  expect(lives).toBe(1)
})

test("each seed enables some of the allowed faults, and some seeds enable none", () => {
  const allowed = faultKinds.filter((kind) => kind !== "crash")
  const counts = new Map<FaultKind, number>()
  let calm = 0
  for (let seed = 0; seed < 1_000; seed += 1) {
    const plan = drawFaults(new SeededRandom(seed), allowed)
    expect(plan.crash).toBe(0)
    const on = faultKinds.filter((kind) => plan[kind] > 0)
    if (on.length === 0) calm += 1
    for (const kind of on) {
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      expect(plan[kind] >= 0.1 && plan[kind] < 1).toBe(true)
    }
  }
  expect(calm).toBeGreaterThan(50)
  for (const kind of allowed) expect(Math.abs((counts.get(kind) ?? 0) - 450), kind).toBeLessThan(100)
})

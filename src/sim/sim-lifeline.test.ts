import { expect, test } from "vitest"
import { SmallWorld } from "../../test/sim/small-world.js"
import type { HeldLine } from "../ports/lifeline.js"
import type { SimProcess } from "./sim-process.js"

test("each follower is notified shortly after the holder of a lifeline is killed", async () => {
  const { small, line, told } = await heldByAlpha()
  follow(small, "beta", line.mark, told)
  follow(small, "gamma", line.mark, told)
  await small.runFor(60_000)
  expect(told).toEqual([])
  const diedAt = small.world.now
  small.world.crash("alpha")
  await small.run()
  expect(told.map(({ by }) => by).sort()).toEqual(["beta", "gamma"])
  for (const { at } of told) expect(at > diedAt && at <= diedAt + 5_000).toBe(true)
})

test("each follower is notified once, shortly after a release, and so are later followers", async () => {
  const { small, line, told } = await heldByAlpha()
  follow(small, "beta", line.mark, told)
  await small.on("alpha", () => line.release())
  await small.run()
  small.world.crash("alpha")
  await small.run()
  expect(told.map(({ by }) => by)).toEqual(["beta"])
  follow(small, "gamma", line.mark, told)
  expect(told).toHaveLength(1)
  await small.run()
  expect(told.map(({ by }) => by)).toEqual(["beta", "gamma"])
})

test("the end of one lifeline does not affect that of the next life, or another one", async () => {
  const { small, line, told } = await heldByAlpha()
  const second = await hold(small, "alpha")
  small.world.crash("alpha")
  small.world.boot("alpha")
  const third = await hold(small, "alpha")
  const fourth = await hold(small, "beta")
  expect(new Set([line.mark, second.mark, third.mark, fourth.mark]).size).toBe(4)
  for (const { mark } of [line, second, third, fourth]) expect(mark).toMatch(/^[!-~]+$/)
  follow(small, "gamma", third.mark, told)
  follow(small, "gamma", fourth.mark, told)
  await small.run()
  expect(told).toEqual([])
})

test("a holder that is paused or cut off keeps its lifeline", async () => {
  for (const kind of ["suspended", "paused"] as const) {
    const { small, line, told } = await heldByAlpha()
    follow(small, "beta", line.mark, told)
    small.world.cut("alpha", "beta")
    small.process("alpha").halt(kind)
    await small.runFor(600_000)
    expect(told).toEqual([])
  }
})

test("a paused follower is notified when it resumes, and a dead one never", async () => {
  const { small, line, told } = await heldByAlpha()
  follow(small, "beta", line.mark, told)
  follow(small, "gamma", line.mark, told)
  small.process("beta").halt("paused")
  small.world.crash("alpha")
  small.world.crash("gamma")
  await small.runFor(60_000)
  expect(told).toEqual([])
  small.process("beta").resume()
  await small.run()
  expect(told.map(({ by }) => by)).toEqual(["beta"])
})

test("a cancelled follower, or one of an unknown mark, is not notified", async () => {
  const { small, line, told } = await heldByAlpha()
  const before = follow(small, "beta", line.mark, told)
  const after = follow(small, "beta", line.mark, told)
  for (const mark of ["", "sim:alpha:99", `${line.mark}0`]) follow(small, "beta", mark, told)
  before.cancel()
  small.world.crash("alpha")
  after.cancel()
  await small.run()
  expect(told).toEqual([])
})

test("a lifeline that is released in a pause is held until the pause is over", async () => {
  const small = new SmallWorld({ faults: { "pause-in-call": 1 } })
  const told: Told[] = []
  const line = await hold(small, "alpha")
  follow(small, "beta", line.mark, told)
  let overAt = 0
  await small.on("alpha", (alpha) => {
    while (alpha.now === small.world.now) alpha.ports.clock.monotonicMs()
    void line.release()
    overAt = alpha.now
  })
  await small.run()
  expect(told).toHaveLength(1)
  expect(told[0]?.at).toBeGreaterThan(overAt)
})

test("the same seed gives the same instants of notification", async () => {
  const runs = [1, 1, 2].map(async (seed) => {
    const { small, line, told } = await heldByAlpha(seed)
    for (const name of ["beta", "gamma"]) follow(small, name, line.mark, told)
    small.world.crash("alpha")
    await small.run()
    return told
  })
  const [first, second, other] = await Promise.all(runs)
  expect(second).toEqual(first)
  expect(other).not.toEqual(first)
})

interface Told {
  readonly by: string
  readonly at: number
}

async function heldByAlpha(seed = 1): Promise<{ small: SmallWorld; line: HeldLine; told: Told[] }> {
  const small = new SmallWorld({ seed })
  return { small, line: await hold(small, "alpha"), told: [] }
}

async function hold(small: SmallWorld, name: string): Promise<HeldLine> {
  return (await small.on(name, ({ ports }: SimProcess) => ports.lifeline.hold())) as HeldLine
}

function follow(small: SmallWorld, by: string, mark: string, told: Told[]) {
  const proc = small.process(by)
  return proc.ports.lifeline.follow(mark, () => {
    expect(small.world.current).toBe(proc)
    told.push({ by, at: small.world.now })
  })
}

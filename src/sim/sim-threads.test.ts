import { expect, test } from "vitest"
import { SmallWorld } from "../../test/sim/small-world.js"
import { SimNumbers } from "./sim-numbers.js"
import type { SimProcess } from "./sim-process.js"

test("a thread runs while its process is stalled, stands still when that is paused, and dies with it", async () => {
  const small = new SmallWorld()
  const proc = small.process("alpha")
  const thread = proc.thread()
  const ticks: string[] = []
  ticking(small, proc, "loop", ticks)
  ticking(small, thread, "thread", ticks)
  await small.runFor(10.5)
  expect(counts(ticks)).toEqual([10, 10])
  proc.stall(10_000)
  await small.runFor(9.2)
  expect(counts(ticks)).toEqual([0, 9])
  thread.stall(10_000)
  await small.runFor(9.7)
  expect(counts(ticks)[1]).toBe(0)
  await small.runFor(1)
  ticks.length = 0
  proc.pause(5_000)
  await small.runFor(4.5)
  expect(counts(ticks)).toEqual([0, 0])
  expect(proc.isPaused).toBe(true)
  await small.runFor(2)
  expect(counts(ticks).every((count) => count > 0)).toBe(true)
  proc.halt("suspended")
  expect([thread.isHalted, thread.isSuspended]).toEqual([true, true])
  await small.runFor(10)
  expect(counts(ticks)).toEqual([0, 0])
  expect(thread.ports.clock.monotonicMs()).toBe(proc.ports.clock.monotonicMs())
  proc.resume()
  await small.runFor(3)
  expect(counts(ticks).every((count) => count > 0)).toBe(true)
  expect(thread.ports.clock.monotonicMs()).toBe(proc.ports.clock.monotonicMs())
  small.world.crash("alpha")
  expect([thread.isAlive, proc.threads]).toEqual([false, []])
  await small.runFor(5)
  expect(counts(ticks)).toEqual([0, 0])
})

test("a thread that ends leaves its process as it is", async () => {
  const small = new SmallWorld()
  const proc = small.process("alpha")
  const [first, second] = [proc.thread(), proc.thread()]
  expect([first.name, second.name, second.processName]).toEqual(["alpha+1", "alpha+2", "alpha"])
  first.kill()
  expect([proc.isAlive, second.isAlive]).toEqual([true, true])
  expect(proc.threads).toEqual([second])
})

test.each([false, true])(
  "numbers that are written in a pause are seen when it is over, and not if their writer ends first (%s)",
  async (ends) => {
    const small = new SmallWorld({ faults: { "pause-in-call": 1 } })
    const proc = small.process("alpha")
    const thread = proc.thread()
    const numbers = SimNumbers.of(proc, 2)
    expect(numbers.read()).toEqual([0, 0])
    let writtenAt = 0
    thread.later(0, "write", () => {
      while (thread.now === small.world.now) thread.enterCall("the write")
      new SimNumbers(thread, numbers.memory).write([1, 2])
      writtenAt = thread.now
    })
    await small.run(() => writtenAt > 0)
    expect(numbers.read()).toEqual([0, 0])
    if (ends) thread.kill()
    await small.runFor((writtenAt - small.world.now) / 1_000 + 1)
    expect(numbers.read()).toEqual(ends ? [0, 0] : [1, 2])
  },
)

function ticking({ world }: SmallWorld, proc: SimProcess, name: string, ticks: string[]): void {
  const tick = () => {
    ticks.push(name)
    proc.later(1_000, "tick", tick)
  }
  world.schedule(world.now + 1_000, proc, "tick", tick)
}

/** How often each has ticked since the last time. */
function counts(ticks: string[]): readonly number[] {
  const taken = ticks.splice(0)
  return ["loop", "thread"].map((name) => taken.filter((tick) => tick === name).length)
}

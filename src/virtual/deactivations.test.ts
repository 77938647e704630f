import { expect, test } from "vitest"
import type { Scheduler } from "../ports/scheduler.js"
import type { Activation } from "./activation.js"
import { Deactivations, type DeactivationWork } from "./deactivations.js"

/** A scheduler whose event loop the test drives, and activations that the test ends. */
class Setup {
  readonly ends: (() => void)[] = []
  started = 0
  examined = 0
  #tasks: (() => void)[] = []

  readonly scheduler = { yield: (task: () => void) => this.#tasks.push(task) } as unknown as Scheduler

  readonly activation = {
    deactivate: () => {
      this.started += 1
      return new Promise<void>((resolve) => this.ends.push(resolve))
    },
  } as unknown as Activation

  deactivations(count: number, change: Partial<DeactivationWork> = {}) {
    return new Deactivations({
      scheduler: this.scheduler,
      candidates: Array.from({ length: count }, () => this.activation).values(),
      maxCandidates: count,
      maxInFlight: 256,
      reason: "idle",
      isDue: () => {
        this.examined += 1
        return true
      },
      ...change,
    })
  }

  /** Runs one turn of the event loop, and returns the number of ends that it started. */
  async turn(): Promise<number> {
    const before = this.started
    for (const task of this.#tasks.splice(0)) task()
    await Promise.resolve()
    await Promise.resolve()
    return this.started - before
  }
}

test("starts 64 ends per turn of the event loop, up to the limit in flight", async () => {
  const setup = new Setup()
  setup.deactivations(1_000, { maxInFlight: 200 })
  expect(setup.started).toBe(64)
  expect([await setup.turn(), await setup.turn(), await setup.turn()]).toEqual([64, 64, 8])
  expect(await setup.turn()).toBe(0)
  for (const end of setup.ends.splice(0, 100)) end()
  expect(await setup.turn()).toBe(0)
  expect([await setup.turn(), await setup.turn(), await setup.turn()]).toEqual([64, 36, 0])
})

test("is done once all activations have ended", async () => {
  const setup = new Setup()
  let isDone = false
  void setup.deactivations(70).done.then(() => {
    isDone = true
  })
  expect(setup.started).toBe(64)
  expect([await setup.turn(), await setup.turn()]).toEqual([6, 0])
  for (const end of setup.ends.splice(0, 69)) end()
  await setup.turn()
  await setup.turn()
  expect(isDone).toBe(false)
  setup.ends[0]?.()
  await setup.turn()
  await setup.turn()
  expect(isDone).toBe(true)
})

test("examines 10,000 activations per turn, and at most maxCandidates", async () => {
  const setup = new Setup()
  function* endless() {
    for (;;) yield setup.activation
  }
  const isDue = () => {
    setup.examined += 1
    return false
  }
  const { done } = setup.deactivations(25_000, { candidates: endless(), isDue })
  const seen = [setup.examined]
  for (let turn = 0; turn < 3; turn += 1) {
    await setup.turn()
    seen.push(setup.examined)
  }
  expect(seen).toEqual([10_000, 20_000, 25_000, 25_000])
  await done
})

test("starts no further ends after stop", async () => {
  const setup = new Setup()
  const deactivations = setup.deactivations(200)
  expect(setup.started).toBe(64)
  deactivations.stop()
  await deactivations.done
  expect(await setup.turn()).toBe(0)
  for (const end of setup.ends.splice(0)) end()
  expect([await setup.turn(), await setup.turn()]).toEqual([0, 0])
})

import { expect, test } from "vitest"
import type { Scheduler } from "../ports/scheduler.js"
import type { Activation } from "./activation.js"
import { Deactivations, type DeactivationWork } from "./deactivations.js"

/**
 * A scheduler whose turns of the event loop the test takes, and activations that end when the test says so.
 */
class Stand {
  readonly ends: (() => void)[] = []
  begun = 0
  lookedAt = 0
  #tasks: (() => void)[] = []

  readonly scheduler = { yield: (task: () => void) => this.#tasks.push(task) } as unknown as Scheduler

  readonly activation = {
    deactivate: () => {
      this.begun += 1
      return new Promise<void>((resolve) => this.ends.push(resolve))
    },
  } as unknown as Activation

  deactivations(count: number, change: Partial<DeactivationWork> = {}) {
    return new Deactivations({
      scheduler: this.scheduler,
      candidates: Array.from({ length: count }, () => this.activation).values(),
      most: count,
      mostUnderWay: 256,
      reason: "idle",
      isDue: () => {
        this.lookedAt += 1
        return true
      },
      ...change,
    })
  }

  /** One turn of the event loop: how many ends it began. */
  async turn(): Promise<number> {
    const before = this.begun
    for (const task of this.#tasks.splice(0)) task()
    await Promise.resolve()
    await Promise.resolve()
    return this.begun - before
  }
}

test("64 are begun in a turn of the event loop, up to as many as may be under way", async () => {
  const stand = new Stand()
  stand.deactivations(1_000, { mostUnderWay: 200 })
  expect(stand.begun).toBe(64)
  expect([await stand.turn(), await stand.turn(), await stand.turn()]).toEqual([64, 64, 8])
  expect(await stand.turn()).toBe(0)
  for (const end of stand.ends.splice(0, 100)) end()
  expect(await stand.turn()).toBe(0)
  expect([await stand.turn(), await stand.turn(), await stand.turn()]).toEqual([64, 36, 0])
})

test("it is done once all have ended", async () => {
  const stand = new Stand()
  let isDone = false
  void stand.deactivations(70).done.then(() => {
    isDone = true
  })
  expect(stand.begun).toBe(64)
  expect([await stand.turn(), await stand.turn()]).toEqual([6, 0])
  for (const end of stand.ends.splice(0, 69)) end()
  await stand.turn()
  await stand.turn()
  expect(isDone).toBe(false)
  stand.ends[0]?.()
  await stand.turn()
  await stand.turn()
  expect(isDone).toBe(true)
})

test("what is not due is looked at 10,000 in a turn, once each, and no more than there were", async () => {
  const stand = new Stand()
  function* endless() {
    for (;;) yield stand.activation
  }
  const isDue = () => {
    stand.lookedAt += 1
    return false
  }
  const { done } = stand.deactivations(25_000, { candidates: endless(), isDue })
  const seen = [stand.lookedAt]
  for (let turn = 0; turn < 3; turn += 1) {
    await stand.turn()
    seen.push(stand.lookedAt)
  }
  expect(seen).toEqual([10_000, 20_000, 25_000, 25_000])
  await done
})

test("none is begun once it was stopped", async () => {
  const stand = new Stand()
  const deactivations = stand.deactivations(200)
  expect(stand.begun).toBe(64)
  deactivations.stop()
  await deactivations.done
  expect(await stand.turn()).toBe(0)
  for (const end of stand.ends.splice(0)) end()
  expect([await stand.turn(), await stand.turn()]).toEqual([0, 0])
})

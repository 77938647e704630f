import { describe, expect, test } from "vitest"
import { Actor } from "../../src/index.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { settle } from "../fake/manual-clock.js"
import { startNode } from "../remote/nodes.js"
import { failureOf, Gate, outcome, scenes } from "./scene.js"

let gate = new Gate()

class Clerk extends Actor<number> {
  static readonly type = "Clerk"

  async wait() {
    await gate.promise
    return "waited"
  }

  quick() {
    return "quick"
  }
}

class Caller extends Actor<number> {
  static readonly type = "Caller"

  /** Its caller has its answer; what it asked for has none yet. */
  leave() {
    void this.actor(Clerk, "a")
      .quick()
      .catch(() => {})
    return "left"
  }
}

/** The clock of these tests stands still: what takes any time at all stays pending. */
describe("a node that stops, and whose actors nobody else hosts", () => {
  const start = scenes()

  test("does not wait for a call that is made after stop()", async () => {
    const { system } = await start([Clerk])
    await system.actor(Clerk, "a").quick()
    const stop = system.stop()
    const call = system.actor(Clerk, "a").quick()
    const failed = await failureOf(call)
    expect(failed).toMatchObject({ code: "Cancelled", delivery: "not-delivered" })
    expect(await outcome(stop)).toBeUndefined()
  })

  test("ends what waits behind a turn as not delivered, once that turn has ended", async () => {
    gate = new Gate()
    const { system } = await start([Clerk])
    const running = system.actor(Clerk, "a").wait()
    await settle()
    const waiting = system.actor(Clerk, "a").quick()
    const stop = system.stop()
    expect(await outcome(stop)).toBe("pending")
    gate.open()
    expect(await running).toBe("waited")
    expect(await failureOf(waiting)).toMatchObject({ code: "Cancelled", delivery: "not-delivered" })
    expect(await outcome(stop)).toBeUndefined()
  })

  test("ends an actor's own calls too", async () => {
    gate = new Gate()
    const { system } = await start([Clerk, Caller])
    const running = system.actor(Clerk, "a").wait()
    await settle()
    expect(await system.actor(Caller, "c").leave()).toBe("left")
    const stop = system.stop()
    gate.open()
    expect(await running).toBe("waited")
    expect(await outcome(stop)).toBeUndefined()
  })
})

test("two nodes that stop under load, both at once, leave no call waiting", async () => {
  const store = memoryStore()
  const settings = { store, actors: [Clerk], drainMs: 600_000, requestTimeoutMs: 600_000 }
  const nodes = [await startNode(settings), await startNode(settings)]
  const systems = nodes.map(({ system }) => system)
  const keys = Array.from({ length: 50 }, (_, index) => `k${index}`)
  await Promise.all(keys.map((key) => systems[0]?.actor(Clerk, key).quick()))
  const failures: unknown[] = []
  let isOver = false
  const callers = systems.map(async (system) => {
    while (!isOver) {
      const calls = keys.map((key) => system.actor(Clerk, key).quick())
      for (const result of await Promise.allSettled(calls)) {
        if (result.status === "rejected") failures.push(result.reason)
      }
      // Calls to a system that has stopped fail at once; the others need the event loop.
      await new Promise((resolve) => setImmediate(resolve))
    }
  })
  await Promise.all(systems.map((system) => system.stop()))
  isOver = true
  await Promise.all(callers)
  expect(failures.length).toBeGreaterThan(0)
})

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

  /** Returns to its caller before its own call is answered. */
  leave() {
    void this.actor(Clerk, "a")
      .quick()
      .catch(() => {})
    return "left"
  }
}

/** The clock of these tests stands still: anything that waits for a timer stays pending. */
describe("a stopping node whose actors no other node hosts", () => {
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

  test("ends calls that wait behind a turn as not delivered, once the turn has ended", async () => {
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

  test("ends the calls of its actors too", async () => {
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

test("two nodes that stop under load at the same time leave no call waiting", async () => {
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
      // Calls of a stopped system fail at once; those of the other need the event loop.
      await new Promise((resolve) => setImmediate(resolve))
    }
  })
  await Promise.all(systems.map((system) => system.stop()))
  isOver = true
  await Promise.all(callers)
  expect(failures.length).toBeGreaterThan(0)
})

import { expect, test } from "vitest"
import { Actor, oneWay } from "../../src/index.js"
import { type Node, onThreeNodes } from "./troupe.js"

class Ledger extends Actor<{ entries: number[] }> {
  static readonly type = "Ledger"

  protected override initialState() {
    return { entries: [] as number[] }
  }

  async enter(entry: number) {
    this.state.entries.push(entry)
    await new Promise((resolve) => setTimeout(resolve, 15))
    await this.save()
    return entry
  }

  entries() {
    return this.state.entries
  }
}

const LEDGERS = 20
const keyOf = (entry: number) => `ledger-${entry % LEDGERS}`

test("a planned stop under load fails no call, loses no save, and keeps the order of each caller", async () => {
  await onThreeNodes([Ledger], async ({ on, stage }) => {
    const failures: unknown[] = []
    const made: number[] = []
    let isOver = false
    // Two nodes call continuously while the third is stopped.
    const caller = async (node: Node, offset: number) => {
      const pending: Promise<unknown>[] = []
      for (let round = 0; !isOver; round += 1) {
        const entry = offset + round
        made.push(entry)
        const call = on(node, (system) => system.actor(Ledger, keyOf(entry)).enter(entry))
        pending.push(call.catch((error: unknown) => failures.push(error)))
        await stage.sleep(1)
      }
      await Promise.all(pending)
    }
    const callers = [caller("a", 0), caller("b", 100_000)]
    await stage.sleep(500)
    await on("c", (system) => system.stop())
    await stage.sleep(300)
    isOver = true
    await Promise.all(callers)
    expect(failures).toEqual([])
    const kept: number[] = []
    for (let ledger = 0; ledger < LEDGERS; ledger += 1) {
      const entries = await on("a", (system) => system.actor(Ledger, `ledger-${ledger}`).entries())
      for (const isOfA of [true, false]) {
        const own = entries.filter((entry) => entry < 100_000 === isOfA)
        expect(own).toEqual([...own].sort((one, other) => one - other))
      }
      kept.push(...entries)
    }
    expect(kept.sort((one, other) => one - other)).toEqual(made.sort((one, other) => one - other))
  })
})

test("one-way messages that wait in a mailbox when its node stops are run by the next activation", async () => {
  await onThreeNodes([Ledger], async ({ on, stage }) => {
    const nodes: readonly Node[] = ["a", "b", "c"]
    const entries = Array.from({ length: 60 }, (_, index) => index)
    await on("a", (system) => {
      for (const entry of entries) oneWay(system.actor(Ledger, keyOf(entry))).enter(entry)
    })
    await stage.sleep(6)
    for (const node of nodes.slice(1)) await on(node, (system) => system.stop())
    const kept: number[] = []
    for (let ledger = 0; ledger < LEDGERS; ledger += 1) {
      kept.push(...(await on("a", (system) => system.actor(Ledger, `ledger-${ledger}`).entries())))
    }
    expect(kept.sort((one, other) => one - other)).toEqual(entries)
  })
})

test("a planned stop is not held up by nodes that remember its actors, and call each of them now and then", async () => {
  await onThreeNodes([Ledger], async ({ on, stage }) => {
    const failures: unknown[] = []
    const calls: Promise<unknown>[] = []
    const call = (made: number) =>
      on("a", (system) => system.actor(Ledger, `page-${made % 400}`).entries()).catch((error: unknown) =>
        failures.push(error),
      )
    for (let made = 0; made < 400; made += 1) calls.push(call(made))
    await Promise.all(calls)
    const beganMs = stage.nowMs
    let stopping: Promise<void> | undefined = on("c", (system) => system.stop()).then(() => {
      stopping = undefined
    })
    for (let made = 0; stopping !== undefined; made += 1) {
      calls.push(call(made))
      await stage.sleep(5)
    }
    expect(stage.nowMs - beganMs).toBeLessThan(1_000)
    await Promise.all(calls)
    expect(failures).toEqual([])
  })
})

class Caller extends Actor {
  static readonly type = "Caller"
  static readonly reentrant = true

  /** Waits for some time, and then for a call that returns to this actor. */
  async callBack(from: string) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    return await this.actor(Called, from).callBack(this.key)
  }

  name() {
    return `caller ${this.key}`
  }
}

class Called extends Actor {
  static readonly type = "Called"

  async callBack(caller: string) {
    return await this.actor(Caller, caller).name()
  }
}

test("a leaving node runs a call that a turn waits for, as the turn could not end otherwise", async () => {
  await onThreeNodes([Caller, Called], async ({ on, stage }) => {
    const nodes: readonly Node[] = ["b", "c"]
    const keys = Array.from({ length: 12 }, (_, index) => `k${index}`)
    const calls = on("a", (system) => Promise.all(keys.map((key) => system.actor(Caller, key).callBack(key))))
    await stage.sleep(50)
    const beganMs = stage.nowMs
    await Promise.all(nodes.map((node) => on(node, (system) => system.stop())))
    expect(stage.nowMs - beganMs).toBeLessThan(2_000)
    expect(await calls).toEqual(keys.map((key) => `caller ${key}`))
  })
})

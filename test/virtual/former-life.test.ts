import { expect, test } from "vitest"
import { Actor, NodeFenced, NodeRejoined } from "../../src/index.js"
import { onThreeNodes } from "./troupe.js"

class Counter extends Actor<{ count: number }> {
  static readonly type = "Counter"

  protected override initialState() {
    return { count: 0 }
  }

  async add() {
    this.state.count += 1
    await this.save()
    return this.state.count
  }
}

test("a node that comes back as another incarnation waits for its former life's actors, and calls them", async () => {
  await onThreeNodes(
    [Counter],
    async ({ on, stage }) => {
      const keys = Array.from({ length: 12 }, (_, index) => `k${index}`)
      const addAll = () =>
        on("a", (system) => Promise.all(keys.map((key) => system.actor(Counter, key).add())))
      expect(await addAll()).toEqual(keys.map(() => 1))
      const happened: string[] = []
      await on("a", (system) => {
        system.events.subscribe(NodeFenced, () => happened.push("fenced"))
        system.events.subscribe(NodeRejoined, () => happened.push("rejoined"))
      })
      // Cut off for longer than its own deadline, and for less than others wait before they end its lease.
      const heal = stage.store().cutOff("a")
      while (!happened.includes("fenced")) await stage.sleep(10)
      heal()
      expect(await addAll()).toEqual(keys.map(() => 2))
      expect(happened).toEqual(["fenced", "rejoined"])
    },
    { lease: { ttlMs: 1_000, deathProof: false } },
  )
})

import { expect, test } from "vitest"
import { Actor } from "../../src/index.js"
import { onThreeNodes } from "./troupe.js"

class Counter extends Actor<number> {
  static readonly type = "Counter"

  protected override initialState() {
    return 0
  }

  async add() {
    this.state += 1
    await this.save()
    return this.state
  }
}

test("calls that wait at a node without access to the store are retried on other nodes, and none ends as unknown", async () => {
  await onThreeNodes(
    [Counter],
    async ({ on, stage }) => {
      const keys = Array.from({ length: 30 }, (_, index) => `k${index}`)
      const addAll = () =>
        on("b", (system) => Promise.all(keys.map((key) => system.actor(Counter, key).add())))
      expect(await addAll()).toEqual(keys.map(() => 1))
      const heal = stage.store().cutOff("a")
      // By then the doors of the node are closed, and no other node has claimed its actors.
      await stage.sleep(4_700)
      expect(await addAll()).toEqual(keys.map(() => 2))
      heal()
      await stage.sleep(5_000)
      expect(await addAll()).toEqual(keys.map(() => 3))
    },
    { lease: { deathProof: false } },
  )
})

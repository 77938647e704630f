import { expect, test } from "vitest"
import { Actor, NodeFenced, NodeRejoined, preferLocal } from "../../src/index.js"
import type { Registry } from "../../src/registry/registry.js"
import { ActorSystem } from "../../src/system/actor-system.js"
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

let hasBegun = false

class Lingerer extends Actor {
  static readonly type = "Lingerer"
  static readonly placement = preferLocal

  async linger() {
    hasBegun = true
    await new Promise(() => {})
  }
}

function registryOf(system: ActorSystem): Registry {
  return ActorSystem.registryOf(system) as Registry
}

test("a node that rejoins waits until the actors of its former incarnation can be claimed, and calls them", async () => {
  await onThreeNodes(
    [Counter, Lingerer],
    async ({ on, stage }) => {
      const keys = Array.from({ length: 12 }, (_, index) => `k${index}`)
      const addAll = () =>
        on("a", (system) => Promise.all(keys.map((key) => system.actor(Counter, key).add())))
      expect(await addAll()).toEqual(keys.map(() => 1))
      // A fenced node does not give up its lease while a turn runs, so the lease has to expire.
      await on("a", (system) => {
        system
          .actor(Lingerer, "l")
          .linger()
          .catch(() => {})
      })
      while (!hasBegun) await stage.sleep(1)
      const happened: string[] = []
      const rejoined = on(
        "a",
        (system) =>
          new Promise<void>((resolve) => {
            system.events.subscribe(NodeFenced, () => happened.push("fenced"))
            system.events.subscribe(NodeRejoined, () => {
              happened.push("rejoined")
              resolve()
            })
          }),
      )
      const former = await on("a", (system) => registryOf(system).node)
      expect(await on("b", (system) => registryOf(system).down(former))).toBe("downed")
      await rejoined
      expect(await on("a", (system) => registryOf(system).view.has(former))).toBe(true)
      expect(await addAll()).toEqual(keys.map(() => 2))
      expect(happened).toEqual(["fenced", "rejoined"])
    },
    { lease: { ttlMs: 1_000, deathProof: false } },
  )
})

import { expect, test } from "vitest"
import { Actor, leastLoadedOfTwo, preferLocal, rendezvous } from "../../src/index.js"
import type { PlacementStrategy } from "../../src/placement/strategies.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { NODES, onThreeNodes } from "./troupe.js"

const ACTORS = 300

/** Calls so many actors, each from one of the nodes in turn, and says how many run on each. */
async function spreadOf(strategy: PlacementStrategy): Promise<readonly number[]> {
  class Dot extends Actor {
    static readonly type = "Dot"
    static readonly placement = strategy

    ping() {
      return true
    }
  }
  const counts: number[] = []
  await onThreeNodes([Dot], async ({ on }) => {
    for (let round = 0; round < ACTORS / 30; round += 1) {
      await Promise.all(
        NODES.map((node, index) =>
          on(node, async (system) => {
            const keys = Array.from({ length: 10 }, (_, at) => `dot-${round * 30 + index * 10 + at}`)
            await Promise.all(keys.map((key) => system.actor(Dot, key).ping()))
          }),
        ),
      )
    }
    for (const node of NODES) {
      counts.push(await on(node, (system) => ActorSystem.actorsOf(system)?.catalog.size ?? 0))
    }
  })
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(ACTORS)
  return counts
}

test("leastLoadedOfTwo spreads 300 actors over three nodes within 20 % of even", async () => {
  for (const count of await spreadOf(leastLoadedOfTwo)) {
    expect(count).toBeGreaterThanOrEqual(80)
    expect(count).toBeLessThanOrEqual(120)
  }
})

test("rendezvous spreads them as far as a hash does", async () => {
  // Each is on a node with a chance of a third: a deviation of four standard deviations has a chance below one in ten thousand.
  const deviation = Math.sqrt(ACTORS * (1 / 3) * (2 / 3))
  for (const count of await spreadOf(rendezvous)) {
    expect(Math.abs(count - ACTORS / 3)).toBeLessThan(4 * deviation)
  }
})

test("preferLocal leaves each where it was called first", async () => {
  expect(await spreadOf(preferLocal)).toEqual([100, 100, 100])
})

import { expect, test } from "vitest"
import { Actor, leastLoadedOfTwo, preferLocal, rendezvous } from "../../src/index.js"
import type { PlacementStrategy } from "../../src/placement/strategies.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { NODES, onThreeNodes } from "./troupe.js"

const ACTORS = 300

/** Calls 300 actors from the three nodes in turn, and returns how many run on each node. */
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

test("rendezvous spreads 300 actors as evenly as a random choice", async () => {
  // Each actor is on a given node with probability 1/3; a deviation of four standard deviations has a
  // probability below 1/10,000.
  const deviation = Math.sqrt(ACTORS * (1 / 3) * (2 / 3))
  for (const count of await spreadOf(rendezvous)) {
    expect(Math.abs(count - ACTORS / 3)).toBeLessThan(4 * deviation)
  }
})

test("preferLocal places each actor on the node of its first call", async () => {
  expect(await spreadOf(preferLocal)).toEqual([100, 100, 100])
})

import { ActorId } from "../../src/address/actor-id.js"
import { NodeId } from "../../src/address/node-id.js"
import { type Placed, PlacementCache } from "../../src/registry/placement-cache.js"
import { keep } from "../keep.js"
import type { ThroughputRow } from "../row.js"

const entries = 10_000

/**
 * Finding where an actor is in the registry's cache, against finding it in a map without limits. Each actor
 * is asked for in turn, by a text that is not the one it was put in by.
 */
export const lookupCached: ThroughputRow = {
  kind: "throughput",
  name: "lookup-cached",
  unit: "lookups/s",
  // A microsecond each.
  bar: { of: "value", better: "higher", at: 1_000_000 },
  ours: {
    setup: () => {
      const cache = new PlacementCache({ epoch: "e1", capacity: entries })
      for (const [index, key] of keysInOrder().entries()) {
        cache.handle({ kind: "read", key, epoch: "e1", where: placementOf(index) })
      }
      const keys = shuffled(keysInOrder())
      return {
        run(operations) {
          let found = 0
          for (let done = 0; done < operations; done += 1) {
            const where = cache.lookup(keys[done % entries] as string)
            if (where?.kind === "placed") found += 1
          }
          keep(allOf(found, operations))
        },
      }
    },
  },
  limit: {
    setup: () => {
      const map = new Map(keysInOrder().map((key, index) => [key, placementOf(index)]))
      const keys = shuffled(keysInOrder())
      return {
        run(operations) {
          let found = 0
          for (let done = 0; done < operations; done += 1) {
            const where = map.get(keys[done % entries] as string)
            if (where?.kind === "placed") found += 1
          }
          keep(allOf(found, operations))
        },
      }
    },
  },
}

const nodes = Array.from({ length: 10 }, (_, node) =>
  NodeId.of(`10.0.0.${node + 1}`, 25_520, String(node).padStart(16, "0")),
)

function placementOf(index: number): Placed {
  return { kind: "placed", node: nodes[index % nodes.length] as NodeId, generation: index + 1 }
}

/** `type/key` as the store has it, each a flat text of its own. */
function keysInOrder(): string[] {
  return Array.from({ length: entries }, (_, index) => {
    const id = ActorId.of("prod", "Account", `user-${index}@example.com`).toString()
    return Buffer.from(id.slice(id.indexOf("::") + 2), "latin1").toString("latin1")
  })
}

/** In an order that is the same in every run and follows no pattern. */
function shuffled(keys: string[]): string[] {
  let state = 1
  for (let last = keys.length - 1; last > 0; last -= 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const chosen = Math.floor((state / 2 ** 32) * (last + 1))
    const key = keys[chosen] as string
    keys[chosen] = keys[last] as string
    keys[last] = key
  }
  return keys
}

function allOf(found: number, operations: number): number {
  if (found !== operations) throw new Error("an actor that was put in was not found")
  return found
}

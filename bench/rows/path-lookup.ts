import { internal } from "../../src/actor/internal-ref.js"
import { ActorPath } from "../../src/address/actor-path.js"
import { ActorSystem, Behaviors } from "../../src/index.js"
import { keep } from "../keep.js"
import type { ThroughputRow } from "../row.js"

const entries = 100_000
const probes = 4_096
const idle = Behaviors.receive<string>(() => Behaviors.same)

/** Finds a running actor by its path among many, against finding a value in a map by a string at hand. */
export const pathLookup: ThroughputRow = {
  kind: "throughput",
  name: "path-lookup",
  unit: "lookups/s",
  ours: {
    setup: async () => {
      const system = await ActorSystem.start({ namespace: "bench" })
      const refs = Array.from({ length: entries }, (_, index) => system.spawn(idle, `order-${index}`))
      const keys = probeKeys((index) => ActorPath.parse(`${refs[index]?.path}`))
      return {
        run(operations) {
          let sum = 0
          for (let done = 0; done < operations; done += 1)
            sum += internal(system.resolve(keys[done % probes] as ActorPath)).capacity || Number.NaN
          keep(found(sum))
        },
        teardown: () => system.stop(),
      }
    },
  },
  limit: {
    setup: () => {
      const map = new Map<string, number>()
      for (let index = 0; index < entries; index += 1) map.set(textOf(index), index)
      const keys = probeKeys(textOf)
      return {
        run(operations) {
          let sum = 0
          for (let done = 0; done < operations; done += 1)
            sum += map.get(keys[done % probes] as string) ?? Number.NaN
          keep(found(sum))
        },
      }
    },
  },
}

function found(sum: number): number {
  if (Number.isNaN(sum)) throw new Error("a path that was put in was not found")
  return sum
}

/** A text of its own at each call, flat: equal keys are never one and the same string. */
function textOf(index: number): string {
  return Buffer.from(`troupe.tcp://prod@10.0.0.7:25520/user/orders/order-${index}`, "latin1").toString(
    "latin1",
  )
}

/**
 * Keys from all over the table, none twice, in an order that is the same in every run and follows no pattern.
 */
function probeKeys<K>(keyOf: (index: number) => K): K[] {
  const keys = Array.from({ length: probes }, (_, probe) => keyOf(Math.floor((probe * entries) / probes)))
  let state = 1
  for (let last = probes - 1; last > 0; last -= 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const chosen = Math.floor((state / 2 ** 32) * (last + 1))
    const key = keys[chosen] as K
    keys[chosen] = keys[last] as K
    keys[last] = key
  }
  return keys
}

import { ActorSystem, Behaviors } from "../../src/index.js"
import { keep } from "../keep.js"
import type { ThroughputRow } from "../row.js"

const idle = Behaviors.receive<string>(() => Behaviors.same)

/** Starting actors, against making an object and entering it into a map. */
export const spawn: ThroughputRow = {
  kind: "throughput",
  name: "spawn",
  unit: "actors/s",
  bar: { of: "value", better: "higher", at: 200_000 },
  ours: {
    setup: () => ({
      async run(operations) {
        const system = await ActorSystem.start({ namespace: "bench" })
        for (let made = 0; made < operations; made += 1) keep(system.spawn(idle))
      },
    }),
  },
  limit: {
    setup: () => ({
      async run(operations) {
        const entries = new Map<string, object>()
        await Promise.resolve()
        for (let made = 0; made < operations; made += 1) {
          const name = `$${made.toString(36)}`
          const entry = { name, queue: [], behavior: idle }
          entries.set(name, entry)
          keep(entry)
        }
      },
    }),
  },
}

import { DurableBank } from "../durable-bank.js"
import { latencyOf } from "../quantile.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"
import { saving } from "../saving.js"
import { times } from "../sqlite/commit-lanes.js"
import { inLanes, ScratchRegistry } from "../sqlite/scratch-registry.js"

const IN_FLIGHT = 64

/** Calls of a `once` method in so many lanes; `accounts` of 1 is one actor for all lanes. */
function calling(lanes: number, accounts: number): Contender {
  return {
    async setup(): Promise<Workload> {
      const bank = await DurableBank.open()
      const handles = Array.from({ length: lanes }, (_, lane) => bank.account(lane % accounts))
      for (const handle of handles) await handle.deposit(1)
      return {
        fewestOperations: 4 * lanes,
        run: async (operations) => {
          const tookMs = await inLanes(lanes, times(operations), async (lane) => {
            await handles[lane]?.deposit(1)
          })
          return latencyOf(tookMs.map((ms) => ms * 1_000))
        },
        teardown: () => bank.close(),
      }
    },
  }
}

/** Calls of a `once` method, to 64 actors at a time, against the saves of as many states alone. */
export const onceSqlite: ThroughputRow = {
  kind: "throughput",
  name: "once-sqlite",
  unit: "calls/s",
  bar: { of: "ratio", better: "higher", at: 0.8 },
  ours: calling(IN_FLIGHT, IN_FLIGHT),
  limit: saving(IN_FLIGHT, () => ScratchRegistry.start()),
}

/** Calls of a `once` method of one actor, 64 in flight, against one after the other. */
export const onceHot: ThroughputRow = {
  kind: "throughput",
  name: "once-hot",
  unit: "calls/s",
  bar: { of: "ratio", better: "higher", at: 12 },
  ours: calling(IN_FLIGHT, 1),
  limit: calling(1, 1),
}

import { barePuts } from "../etcd/bare-puts.js"
import { scratchEtcd } from "../etcd/scratch-etcd.js"
import { latencyOf } from "../quantile.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"
import { times } from "../sqlite/commit-lanes.js"
import { actorId, inLanes, ScratchRegistry } from "../sqlite/scratch-registry.js"

/** What a placement takes in the store. */
const STORED_BYTES = 32

/** Each time an actor that has never been anywhere. */
const claiming = (inFlight: number): Contender => ({
  async setup(): Promise<Workload> {
    const { store, remove } = await scratchEtcd()
    const cluster = await ScratchRegistry.over(store, remove)
    let actors = 0
    return {
      fewestOperations: 4 * inFlight,
      run: async (operations) => {
        const tookMs = await inLanes(inFlight, times(operations), async () => {
          actors += 1
          const { tenure } = await cluster.activate(actorId(actors))
          // It is not run, or all that were ever claimed would stay in memory.
          tenure.end("it was measured")
        })
        return latencyOf(tookMs.map((ms) => ms * 1_000))
      },
      teardown: () => cluster.stop(),
    }
  },
})

const row = (inFlight: number): ThroughputRow => ({
  kind: "throughput",
  name: `claim-etcd-${inFlight}`,
  unit: "claims/s",
  bar: { of: "ratio", better: "higher", at: 0.5 },
  ours: claiming(inFlight),
  limit: barePuts(inFlight, STORED_BYTES),
})

/** An actor that nobody has comes to this node, and its state is read: one round trip beside one. */
export const claimEtcd1 = row(1)
export const claimEtcd64 = row(64)
export const claimEtcd1024 = row(1024)

import { barePuts } from "../etcd/bare-puts.js"
import { keyOf, scratchEtcd } from "../etcd/scratch-etcd.js"
import { latencyOf } from "../quantile.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"
import { CommitLanes, times, VALUE_BYTES } from "../sqlite/commit-lanes.js"

const committing = (inFlight: number): Contender => ({
  async setup(): Promise<Workload> {
    const { store, remove } = await scratchEtcd()
    const lanes = await CommitLanes.start(store, inFlight, keyOf)
    return {
      fewestOperations: 4 * inFlight,
      run: async (operations) => {
        const tookMs = await lanes.run(times(operations))
        return latencyOf(tookMs.map((ms) => ms * 1_000))
      },
      teardown: async () => {
        await store.close()
        await remove()
      },
    }
  },
})

const row = (inFlight: number): ThroughputRow => ({
  kind: "throughput",
  name: `commit-etcd-${inFlight}`,
  unit: "commits/s",
  bar: { of: "ratio", better: "higher", at: 0.5 },
  ours: committing(inFlight),
  limit: barePuts(inFlight, VALUE_BYTES),
})

/** One commit on a condition after the other: mostly the flush of the server. */
export const commitEtcd1 = row(1)
/** Commits that travel together. */
export const commitEtcd64 = row(64)
/** Transactions that are as full as they get. */
export const commitEtcd1024 = row(1024)

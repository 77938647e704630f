import { bareUpdates } from "../postgres/bare-updates.js"
import { openScratchStore } from "../postgres/scratch-database.js"
import { latencyOf } from "../quantile.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"
import { CommitLanes, times } from "../sqlite/commit-lanes.js"

function committing(inFlight: number): Contender {
  return {
    async setup(): Promise<Workload> {
      const { store, remove } = await openScratchStore()
      // Not keys of leases, which have a connection of their own.
      const lanes = await CommitLanes.start(store, inFlight, (lane) => `index/lane-${lane}`)
      return {
        fewestOperations: inFlight * 4,
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
  }
}

/** Commits on a condition, durable before they are answered. */
function commitPostgres(inFlight: number, at: number): ThroughputRow {
  return {
    kind: "throughput",
    name: `commit-postgres-${inFlight}`,
    unit: "commits/s",
    bar: { of: "ratio", better: "higher", at },
    ours: committing(inFlight),
    limit: bareUpdates(inFlight),
  }
}

export const commitPostgres1 = commitPostgres(1, 0.5)
export const commitPostgres64 = commitPostgres(64, 0.6)
export const commitPostgres1024 = commitPostgres(1_024, 0.5)

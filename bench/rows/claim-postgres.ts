import { bareUpdates } from "../postgres/bare-updates.js"
import { openScratchStore } from "../postgres/scratch-database.js"
import { latencyOf } from "../quantile.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"
import { times } from "../sqlite/commit-lanes.js"
import { actorId, inLanes, ScratchRegistry } from "../sqlite/scratch-registry.js"

/** Each time an actor that has never been anywhere. */
function claiming(inFlight: number): Contender {
  return {
    async setup(): Promise<Workload> {
      const { store, remove } = await openScratchStore()
      const cluster = await ScratchRegistry.over(store, remove)
      let actors = 0
      return {
        fewestOperations: inFlight * 4,
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
  }
}

/** An actor that nobody has comes to this node, and its state is read. */
function claimPostgres(inFlight: number, at: number): ThroughputRow {
  return {
    kind: "throughput",
    name: `claim-postgres-${inFlight}`,
    unit: "claims/s",
    bar: { of: "ratio", better: "higher", at },
    ours: claiming(inFlight),
    limit: bareUpdates(inFlight),
  }
}

export const claimPostgres1 = claimPostgres(1, 0.5)
export const claimPostgres64 = claimPostgres(64, 0.6)
export const claimPostgres1024 = claimPostgres(1_024, 0.5)

import { bareUpdates } from "../postgres/bare-updates.js"
import { openScratchStore } from "../postgres/scratch-database.js"
import { latencyOf } from "../quantile.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"
import { times } from "../sqlite/commit-lanes.js"
import { actorId, inLanes, ScratchRegistry } from "../sqlite/scratch-registry.js"

function saving(inFlight: number): Contender {
  return {
    async setup(): Promise<Workload> {
      const { store, remove } = await openScratchStore()
      const cluster = await ScratchRegistry.over(store, remove)
      const states = await Promise.all(
        Array.from({ length: inFlight }, async (_, lane) => {
          const state = cluster.stateOf(await cluster.claim(actorId(lane)))
          await state.load()
          return state
        }),
      )
      let saves = 0
      return {
        fewestOperations: inFlight * 4,
        run: async (operations) => {
          const tookMs = await inLanes(inFlight, times(operations), async (lane) => {
            saves += 1
            await states[lane]?.save({ owner: "ada@example.com", balance: saves, history: [1, 2, 3, saves] })
          })
          return latencyOf(tookMs.map((ms) => ms * 1_000))
        },
        teardown: () => cluster.stop(),
      }
    },
  }
}

/** An actor saves its state; each has a save in flight. */
function savePostgres(inFlight: number, at: number): ThroughputRow {
  return {
    kind: "throughput",
    name: `save-postgres-${inFlight}`,
    unit: "saves/s",
    bar: { of: "ratio", better: "higher", at },
    ours: saving(inFlight),
    limit: bareUpdates(inFlight),
  }
}

export const savePostgres1 = savePostgres(1, 0.5)
export const savePostgres64 = savePostgres(64, 0.6)
export const savePostgres1024 = savePostgres(1_024, 0.5)

import { latencyOf } from "./quantile.js"
import type { Contender, Workload } from "./row.js"
import { times } from "./sqlite/commit-lanes.js"
import { actorId, inLanes, type ScratchRegistry } from "./sqlite/scratch-registry.js"

/** What the state that is saved takes in the store, with the head that goes before it. */
export const STORED_BYTES = 94

/** So many actors save their states in a store, each with one save in flight. */
export function saving(inFlight: number, open: () => Promise<ScratchRegistry>): Contender {
  return {
    async setup(): Promise<Workload> {
      const cluster = await open()
      const states = await Promise.all(
        Array.from({ length: inFlight }, async (_, lane) => {
          const { state } = await cluster.activate(actorId(lane))
          return state
        }),
      )
      let saves = 0
      return {
        fewestOperations: 4 * inFlight,
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

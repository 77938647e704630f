import { latencyOf } from "./quantile.js"
import type { Contender, Workload } from "./row.js"
import { times } from "./sqlite/commit-lanes.js"
import { actorId, inLanes, type ScratchRegistry } from "./sqlite/scratch-registry.js"

/** What the state that is saved takes in the store, with the head that goes before it. */
export const STORED_BYTES = 94

/**
 * So many actors save their states in a store, each with one save in flight. An operation is one save, or
 * several of as many actors, one after the other.
 */
export function saving(
  inFlight: number,
  open: () => Promise<ScratchRegistry>,
  { savesEach = 1 }: { readonly savesEach?: number } = {},
): Contender {
  return {
    async setup(): Promise<Workload> {
      const cluster = await open()
      const states = await Promise.all(
        Array.from({ length: inFlight * savesEach }, async (_, actor) => {
          const { state } = await cluster.activate(actorId(actor))
          return state
        }),
      )
      let saves = 0
      return {
        fewestOperations: 4 * inFlight,
        run: async (operations) => {
          const tookMs = await inLanes(inFlight, times(operations), async (lane) => {
            for (let actor = lane; actor < states.length; actor += inFlight) {
              saves += 1
              await states[actor]?.save({
                owner: "ada@example.com",
                balance: saves,
                history: [1, 2, 3, saves],
              })
            }
          })
          return latencyOf(tookMs.map((ms) => ms * 1_000))
        },
        teardown: () => cluster.stop(),
      }
    },
  }
}

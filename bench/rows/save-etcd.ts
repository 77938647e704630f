import { barePuts } from "../etcd/bare-puts.js"
import { scratchEtcd } from "../etcd/scratch-etcd.js"
import { latencyOf } from "../quantile.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"
import { times } from "../sqlite/commit-lanes.js"
import { actorId, inLanes, ScratchRegistry } from "../sqlite/scratch-registry.js"

/** What the state below takes in the store, with the head that goes before it. */
const STORED_BYTES = 94

const saving = (inFlight: number): Contender => ({
  async setup(): Promise<Workload> {
    const { store, remove } = await scratchEtcd()
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
})

const row = (inFlight: number): ThroughputRow => ({
  kind: "throughput",
  name: `save-etcd-${inFlight}`,
  unit: "saves/s",
  bar: { of: "ratio", better: "higher", at: 0.5 },
  ours: saving(inFlight),
  limit: barePuts(inFlight, STORED_BYTES),
})

/** Actors save their states, each with one save in flight. */
export const saveEtcd1 = row(1)
export const saveEtcd64 = row(64)
export const saveEtcd1024 = row(1024)

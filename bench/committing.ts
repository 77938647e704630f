import type { ClusterStore } from "../src/ports/store.js"
import { latencyOf } from "./quantile.js"
import type { Contender, Workload } from "./row.js"
import { CommitLanes, times } from "./sqlite/commit-lanes.js"

interface ScratchStore {
  readonly store: ClusterStore
  remove(): Promise<void>
}

/** Commits on a condition, so many of them in flight. */
export function committing(
  inFlight: number,
  keyOf: (lane: number) => string,
  open: () => Promise<ScratchStore>,
): Contender {
  return {
    async setup(): Promise<Workload> {
      const { store, remove } = await open()
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
  }
}

import { latencyOf } from "../quantile.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"
import { times } from "../sqlite/commit-lanes.js"
import { DirectDriver } from "../sqlite/direct-driver.js"
import { actorId, inLanes, ScratchRegistry } from "../sqlite/scratch-registry.js"
import { scratchFile } from "../sqlite/scratch-store.js"

const IN_FLIGHT = 64

/** Each time an actor that has never been anywhere. */
const claiming: Contender = {
  async setup(): Promise<Workload> {
    const cluster = await ScratchRegistry.start()
    let actors = 0
    return {
      run: async (operations) => {
        const tookMs = await inLanes(IN_FLIGHT, times(operations), async () => {
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

/**
 * Placements that were not there, on the condition of the node's record, in groups; and then a read of each
 * one's state.
 */
const straightToTheDriver: Contender = {
  async setup(): Promise<Workload> {
    const { file, remove } = scratchFile()
    const driver = await DirectDriver.open(file)
    const node = "127.0.0.1:25520#0123456789abcdef"
    const record = `bench/nodes/${node}`
    const value = Buffer.from(node, "latin1")
    driver.group(() => driver.commit([], record, value))
    let actors = 0
    const claimGroup = (size: number) => {
      const keys: string[] = []
      driver.group(() => {
        for (let count = 0; count < size; count += 1) {
          actors += 1
          const key = `Account/user-${actors}@example.com`
          const placement = `bench/placements/${key}`
          driver.commit([record, placement], placement, value)
          keys.push(key)
        }
      })
      for (const key of keys) driver.get(`bench/state/${key}`)
    }
    return {
      run: (operations) => {
        for (let left = operations; left > 0; left -= IN_FLIGHT) claimGroup(Math.min(left, IN_FLIGHT))
      },
      teardown: () => {
        driver.close()
        remove()
      },
    }
  },
}

/** An actor that nobody has comes to this node, and its state is read; 64 in flight. */
export const claimSqlite: ThroughputRow = {
  kind: "throughput",
  name: "claim-sqlite",
  unit: "claims/s",
  bar: { of: "ratio", better: "higher", at: 0.4 },
  ours: claiming,
  limit: straightToTheDriver,
}

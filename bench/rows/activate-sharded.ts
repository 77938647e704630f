import { Actor, ActorSystem, consoleLogger, sharded } from "../../src/index.js"
import { sqliteStore } from "../../src/stores/sqlite/index.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"
import { times } from "../sqlite/commit-lanes.js"
import { DirectDriver } from "../sqlite/direct-driver.js"
import { inLanes } from "../sqlite/scratch-registry.js"
import { scratchFile } from "../sqlite/scratch-store.js"

const IN_FLIGHT = 64
/**
 * The threads of a store wake each other up some hundred times in a sample: a machine that others use delays
 * some of these by a millisecond.
 */
const OPERATIONS_A_SAMPLE = 10_000

class Newcomer extends Actor {
  static readonly type = "Newcomer"
  static readonly placement = sharded({ shards: 64 })

  hello() {
    return 1
  }
}

/** Each time an actor that has never been called: its state is read, and its first message handled. */
const activating: Contender = {
  async setup(): Promise<Workload> {
    const { file, remove } = scratchFile()
    const system = await ActorSystem.start({
      namespace: "bench",
      actors: [Newcomer],
      logger: consoleLogger({ level: "error" }),
      store: sqliteStore({ file }),
    })
    let actors = 0
    const call = async () => {
      actors += 1
      await system.actor(Newcomer, `user-${actors}@example.com`).hello()
    }
    for (let warm = 0; warm < 1_000; warm += 1) await call()
    return {
      run: async (operations) => void (await inLanes(IN_FLIGHT, times(operations), call)),
      fewestOperations: OPERATIONS_A_SAMPLE,
      teardown: async () => {
        await system.stop()
        remove()
      },
    }
  },
}

/** The read of a state for each, in a transaction of its own. */
const reading: Contender = {
  async setup(): Promise<Workload> {
    const { file, remove } = scratchFile()
    const driver = await DirectDriver.open(file)
    let actors = 0
    return {
      run: (operations) => {
        for (let left = operations; left > 0; left -= 1) {
          actors += 1
          driver.get(`bench/state/Newcomer/user-${actors}%40example.com`)
        }
      },
      fewestOperations: OPERATIONS_A_SAMPLE,
      teardown: () => {
        driver.close()
        remove()
      },
    }
  },
}

/** First calls to actors of shards on SQLite, against the reads alone, straight to the driver. */
export const activateShardedSqlite: ThroughputRow = {
  kind: "throughput",
  name: "activate-sharded-sqlite",
  unit: "activations/s",
  bar: { of: "ratio", better: "higher", at: 0.6 },
  ours: activating,
  limit: reading,
}

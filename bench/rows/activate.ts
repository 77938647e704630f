import { Actor, ActorSystem, Behaviors, consoleLogger, memoryStore } from "../../src/index.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { sqliteStore } from "../../src/stores/sqlite/index.js"
import { keep } from "../keep.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"
import { DirectDriver } from "../sqlite/direct-driver.js"
import { scratchFile } from "../sqlite/scratch-store.js"

const IN_FLIGHT = 64

class Newcomer extends Actor {
  static readonly type = "Newcomer"

  hello() {
    return 1
  }
}

/**
 * Each time an actor that has never been called: it is claimed, its state is read, and its first message
 * handled.
 */
const activating = (store: "memory" | "sqlite"): Contender => ({
  async setup(): Promise<Workload> {
    const { file, remove } = scratchFile()
    const system = await ActorSystem.start({
      namespace: "bench",
      actors: [Newcomer],
      logger: consoleLogger({ level: "error" }),
      ...(store === "sqlite" ? { store: sqliteStore({ file }) } : {}),
    })
    let actors = 0
    const call = () => {
      actors += 1
      return system.actor(Newcomer, `user-${actors}@example.com`).hello()
    }
    await call()
    return {
      run: (operations) => inLanes(operations, call),
      teardown: async () => {
        await system.stop()
        remove()
      },
    }
  },
})

/** A plain actor, and the same commit and read beside it. */
const spawning: Contender = {
  async setup(): Promise<Workload> {
    const system = await ActorSystem.start({ namespace: "bench", logger: consoleLogger({ level: "error" }) })
    const store = await memoryStore().open("bench", nodePorts({ logger: consoleLogger({ level: "error" }) }))
    const { epoch } = await store.get("nodes/here")
    const node = Buffer.from("here")
    const joined = await store.commit({
      epoch,
      conditions: [],
      writes: [{ kind: "put", key: "nodes/here", value: node }],
    })
    if (joined.kind !== "committed") throw new Error("the record was not written")
    const idle = Behaviors.receive<string>(() => Behaviors.same)
    let actors = 0
    const one = async () => {
      actors += 1
      const key = `Newcomer/user-${actors}%40example.com`
      const placement = `placements/${key}`
      await store.commit({
        epoch,
        conditions: [
          { kind: "at", key: "nodes/here", revision: joined.revision },
          { kind: "absent", key: placement },
        ],
        writes: [{ kind: "put", key: placement, value: node }],
        reads: [`state/${key}`],
      })
      const ref = system.spawn(idle)
      ref.tell("hello")
      keep(ref)
    }
    return {
      run: (operations) => inLanes(operations, one),
      teardown: async () => {
        await system.stop()
        await store.close()
      },
    }
  },
}

/**
 * A commit of a placement and the read of a state for each, in groups of as many as are in flight on our
 * side.
 */
const straightToTheDriver: Contender = {
  async setup(): Promise<Workload> {
    const { file, remove } = scratchFile()
    const driver = await DirectDriver.open(file)
    const record = "bench/nodes/here"
    const value = Buffer.from("here")
    driver.group(() => driver.commit([], record, value))
    let actors = 0
    const group = (size: number) => {
      const keys: string[] = []
      driver.group(() => {
        for (let count = 0; count < size; count += 1) {
          actors += 1
          const key = `Newcomer/user-${actors}%40example.com`
          driver.commit([record, `bench/placements/${key}`], `bench/placements/${key}`, value)
          keys.push(key)
        }
      })
      for (const key of keys) driver.get(`bench/state/${key}`)
    }
    return {
      run: (operations) => {
        for (let left = operations; left > 0; left -= IN_FLIGHT) group(Math.min(left, IN_FLIGHT))
      },
      teardown: () => {
        driver.close()
        remove()
      },
    }
  },
}

/** First calls with the store in memory, against a plain actor with the same commit and read. */
export const activateMemory: ThroughputRow = {
  kind: "throughput",
  name: "activate-memory",
  unit: "activations/s",
  bar: { of: "ratio", better: "higher", at: 0.4 },
  ours: activating("memory"),
  limit: spawning,
}

/** First calls on SQLite, against the same statements straight to the driver. */
export const activateSqlite: ThroughputRow = {
  kind: "throughput",
  name: "activate-sqlite",
  unit: "activations/s",
  bar: { of: "ratio", better: "higher", at: 0.3 },
  ours: activating("sqlite"),
  limit: straightToTheDriver,
}

async function inLanes(operations: number, one: () => Promise<unknown>): Promise<void> {
  let left = operations
  const lane = async () => {
    while (left > 0) {
      left -= 1
      await one()
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
}

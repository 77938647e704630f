import { ActorSystem, consoleLogger } from "../../src/index.js"
import { sqliteStore } from "../../src/stores/sqlite/index.js"
import type { Echo } from "../remote/actor-node.js"
import { startChild } from "../remote/child.js"
import { BODY_BYTES, exchangingFrames } from "../remote/exchanging-frames.js"
import { askInLanes } from "../remote/lanes.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"
import { scratchFile } from "../sqlite/scratch-store.js"

/** Calls to an actor that gives the body back, on a node in another process. */
const calling = (inFlight: number): Contender => ({
  async setup(): Promise<Workload> {
    const { file, remove } = scratchFile()
    const child = await startChild("actor-node", file)
    const system = await ActorSystem.start({
      namespace: "bench",
      listen: { host: "127.0.0.1", port: 0 },
      store: sqliteStore({ file }),
      logger: consoleLogger({ level: "error" }),
    })
    const echo = system.actor<Echo>("Echo", "one")
    const body = "a".repeat(BODY_BYTES)
    const asker = { length: BODY_BYTES, ask: () => echo.echo(body) }
    await asker.ask()
    return {
      run: (operations) => askInLanes(inFlight, operations, asker),
      teardown: async () => {
        await system.stop()
        await child.stop()
        remove()
      },
    }
  },
})

const row = (inFlight: number, atLeast: number): ThroughputRow => ({
  kind: "throughput",
  name: `call-remote-${inFlight}`,
  unit: "calls/s",
  bar: { of: "ratio", better: "higher", at: atLeast },
  ours: calling(inFlight),
  limit: exchangingFrames(inFlight),
})

/** One call after the other over one loopback connection: mostly the trip itself. */
export const callRemote1 = row(1, 0.6)
/** Enough in flight to fill both processes. */
export const callRemote64 = row(64, 0.4)
/** Batches that are as full as they get. */
export const callRemote1024 = row(1024, 0.4)

import type { Contender, Workload } from "../row.js"
import { askInLanes } from "./lanes.js"
import { startRawClient } from "./raw-client.js"

export const BODY_BYTES = 64

/**
 * So many raw frames to and fro at a time, matched by their numbers: what any question to another process can
 * reach.
 */
export const exchangingFrames = (inFlight: number): Contender => ({
  async setup(): Promise<Workload> {
    const client = await startRawClient("raw-echo")
    const body = Buffer.alloc(BODY_BYTES, "a")
    const asker = { length: BODY_BYTES, ask: () => client.ask(body) }
    await asker.ask()
    return {
      run: (operations) => askInLanes(inFlight, operations, asker),
      teardown: () => client.stop(),
    }
  },
})

import type { ActorRef } from "../../src/index.js"
import { startChild } from "../remote/child.js"
import type { Question } from "../remote/echo-node.js"
import { BODY_BYTES, exchangingFrames } from "../remote/exchanging-frames.js"
import { askInLanes } from "../remote/lanes.js"
import { startNode } from "../remote/node.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"

/** Asks to an actor that gives the body back, in another process. */
const asking = (inFlight: number): Contender => ({
  async setup(): Promise<Workload> {
    const child = await startChild("echo-node")
    const system = await startNode()
    const echo = system.resolve<Question>(child.greeting)
    const body = "a".repeat(BODY_BYTES)
    const message = (replyTo: ActorRef<string>): Question => ({ body, replyTo })
    const asker = { length: BODY_BYTES, ask: () => system.ask(echo, message) }
    await asker.ask()
    return {
      run: (operations) => askInLanes(inFlight, operations, asker),
      teardown: async () => {
        await system.stop()
        await child.stop()
      },
    }
  },
})

const row = (inFlight: number, atLeast: number): ThroughputRow => ({
  kind: "throughput",
  name: `remote-ask-${inFlight}`,
  unit: "asks/s",
  bar: { of: "ratio", better: "higher", at: atLeast },
  ours: asking(inFlight),
  limit: exchangingFrames(inFlight),
})

/** One question after the other over one loopback connection: mostly the trip itself. */
export const remoteAsk1 = row(1, 0.7)
/** Enough in flight to fill both processes. */
export const remoteAsk64 = row(64, 0.45)
/** Batches that are as full as they get. */
export const remoteAsk1024 = row(1024, 0.45)

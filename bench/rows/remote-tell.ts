import { latencyOf } from "../quantile.js"
import { startChild } from "../remote/child.js"
import type { Account, Note, Settle } from "../remote/counting-node.js"
import { startNode } from "../remote/node.js"
import { startRawClient } from "../remote/raw-client.js"
import { tellInChunks } from "../remote/settled-chunks.js"
import { sharedNowUs } from "../remote/shared-clock.js"
import type { ThroughputRow } from "../row.js"

const BODY_BYTES = 64
/** One message in so many says when it was told. */
const TIMED = 61

/**
 * One-way messages to an actor in another process, all accounted for, against raw frames under the same rule.
 * A time is that from the tell until the actor has it, with some thousand messages in flight.
 */
export const remoteTell: ThroughputRow = {
  kind: "throughput",
  name: "remote-tell",
  unit: "messages/s",
  ours: {
    async setup() {
      const child = await startChild("counting-node")
      const system = await startNode()
      const counter = system.resolve<Note | Settle>(child.greeting)
      const body = "a".repeat(BODY_BYTES)
      const settle = () => system.ask<Settle, Account>(counter, (replyTo) => ({ replyTo }))
      const tell = (number: number) =>
        counter.tell({ body, toldAtUs: number % TIMED === 0 ? sharedNowUs() : 0 })
      const handled = (account: Account) => account.handled
      await settle()
      return {
        async run(operations) {
          const accounts = await tellInChunks(operations, { tell, settle, handled })
          return latencyOf(accounts.flatMap(({ tookUs }) => tookUs))
        },
        teardown: async () => {
          await system.stop()
          await child.stop()
        },
      }
    },
  },
  limit: {
    async setup() {
      const client = await startRawClient("raw-counter")
      const body = Buffer.alloc(BODY_BYTES, "a")
      const question = Buffer.alloc(0)
      const settle = () => client.ask(question)
      const tell = () => client.tell(body)
      const handled = (account: Buffer) => account.readUInt32LE()
      await settle()
      return {
        async run(operations) {
          await tellInChunks(operations, { tell, settle, handled })
        },
        teardown: () => client.stop(),
      }
    },
  },
}

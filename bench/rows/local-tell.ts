import { ActorSystem, type Behavior, Behaviors } from "../../src/index.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"

interface Add {
  readonly amount: number
}

/** Messages told in one go before the event loop goes round. */
const BURST = 1_000

/** One-way messages to one actor, a fresh object each, against an array that one microtask drains. */
export const localTell: ThroughputRow = {
  kind: "throughput",
  name: "local-tell",
  unit: "messages/s",
  bar: { of: "ratio", better: "higher", at: 0.4 },
  ours: actor((sink) =>
    Behaviors.receive<Add>((_context, message) => {
      sink.take(message.amount)
      return Behaviors.same
    }),
  ),
  limit: {
    setup: () => {
      const sink = new Sink()
      let queue: Add[] = []
      let scheduled = false
      const drain = () => {
        scheduled = false
        const batch = queue
        queue = []
        for (const message of batch) sink.take(message.amount)
      }
      const tell = (message: Add) => {
        queue.push(message)
        if (!scheduled) {
          scheduled = true
          queueMicrotask(drain)
        }
      }
      return {
        run(operations) {
          const done = sink.expect(operations)
          let left = operations
          const burst = () => {
            for (let sent = 0; sent < BURST && left > 0; sent += 1, left -= 1) tell({ amount: 1 })
            if (left > 0) setImmediate(burst)
          }
          burst()
          return done
        },
      }
    },
  },
}

/**
 * The same with a handler that is async, which is how most handlers are written. Its limit is an async loop.
 */
export const localTellAsync: ThroughputRow = {
  kind: "throughput",
  name: "local-tell-async",
  unit: "messages/s",
  ours: actor((sink) =>
    Behaviors.receive<Add>(async (_context, message) => {
      sink.take(message.amount)
      return Behaviors.same
    }),
  ),
  limit: {
    setup: () => {
      const sink = new Sink()
      const handle = async (message: Add) => {
        sink.take(message.amount)
      }
      return {
        async run(operations) {
          const done = sink.expect(operations)
          for (let sent = 0; sent < operations; sent += 1) await handle({ amount: 1 })
          return done
        },
      }
    },
  },
}

function actor(behavior: (sink: Sink) => Behavior<Add>): Contender {
  return {
    async setup(): Promise<Workload> {
      const sink = new Sink()
      const system = await ActorSystem.start({ namespace: "bench" })
      const ref = system.spawn(behavior(sink))
      return {
        run(operations) {
          const done = sink.expect(operations)
          let left = operations
          const burst = () => {
            for (let sent = 0; sent < BURST && left > 0; sent += 1, left -= 1) ref.tell({ amount: 1 })
            if (left > 0) setImmediate(burst)
          }
          burst()
          return done
        },
        teardown: () => system.stop(),
      }
    },
  }
}

/** Counts what arrives and says when all of it has. */
class Sink {
  #left = 0
  #done: () => void = () => {}

  expect(messages: number): Promise<void> {
    this.#left = messages
    return new Promise((resolve) => {
      this.#done = resolve
    })
  }

  take(amount: number): void {
    this.#left -= amount
    if (this.#left === 0) this.#done()
  }
}

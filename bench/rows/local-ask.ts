import { type ActorRef, ActorSystem, Behaviors } from "../../src/index.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"

interface Question {
  readonly number: number
  readonly replyTo: ActorRef<number>
}

const answering = Behaviors.receive<Question>((_context, { number, replyTo }) => {
  replyTo.tell(number + 1)
  return Behaviors.same
})

const awaiting = (inFlight: number): Contender => ({
  setup: () => ({
    run: (operations) => inParallel(inFlight, operations, (number) => Promise.resolve(number)),
  }),
})

const asking = (inFlight: number): Contender => ({
  async setup(): Promise<Workload> {
    const system = await ActorSystem.start({ namespace: "bench" })
    const ref = system.spawn(answering)
    return {
      run: (operations) =>
        inParallel(inFlight, operations, (number) =>
          system.ask<Question, number>(ref, (replyTo) => ({ number, replyTo })),
        ),
      teardown: () => system.stop(),
    }
  },
})

/** One question after the other, against awaiting a resolved promise. */
export const localAsk: ThroughputRow = {
  kind: "throughput",
  name: "local-ask",
  unit: "asks/s",
  bar: { of: "ratio", better: "higher", at: 0.12 },
  ours: asking(1),
  limit: awaiting(1),
}

/** 64 questions in flight at any time. */
export const localAsk64: ThroughputRow = {
  kind: "throughput",
  name: "local-ask-64",
  unit: "asks/s",
  ours: asking(64),
  limit: awaiting(64),
}

/** So many calls in flight at any time. */
export async function inParallel(
  lanes: number,
  operations: number,
  call: (number: number) => Promise<number>,
): Promise<void> {
  let left = operations
  const lane = async () => {
    while (left > 0) {
      left -= 1
      await call(left)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

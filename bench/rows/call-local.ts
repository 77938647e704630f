import { Actor, ActorSystem, consoleLogger } from "../../src/index.js"
import type { Contender, ThroughputRow } from "../row.js"

class Echo extends Actor {
  static readonly type = "Echo"

  next(number: number) {
    return number + 1
  }

  again(order: Order) {
    return order
  }
}

interface Order {
  readonly id: number
  readonly customer: string
  readonly lines: readonly string[]
}

/** One call after the other to an actor of this process. */
const calling = (call: (echo: ReturnType<typeof handle>, number: number) => Promise<unknown>): Contender => ({
  async setup() {
    const system = await ActorSystem.start({
      namespace: "bench",
      actors: [Echo],
      logger: consoleLogger({ level: "error" }),
    })
    const echo = handle(system)
    await echo.next(0)
    return {
      run: async (operations) => {
        for (let number = 0; number < operations; number += 1) await call(echo, number)
      },
      teardown: () => system.stop(),
    }
  },
})

function handle(system: ActorSystem) {
  return system.actor(Echo, "one")
}

const awaiting: Contender = {
  setup: () => ({
    run: async (operations) => {
      for (let number = 0; number < operations; number += 1) await Promise.resolve(number)
    },
  }),
}

/** A number in and out, against awaiting a resolved promise. */
export const callLocal: ThroughputRow = {
  kind: "throughput",
  name: "call-local",
  unit: "calls/s",
  bar: { of: "ratio", better: "higher", at: 0.1 },
  ours: calling((echo, number) => echo.next(number)),
  limit: awaiting,
}

/** A small object in and out, copied both times. */
export const callLocalObject: ThroughputRow = {
  kind: "throughput",
  name: "call-local-object",
  unit: "calls/s",
  bar: { of: "ratio", better: "higher", at: 0.02 },
  ours: calling((echo, id) => echo.again({ id, customer: "ada", lines: ["tea", "biscuits"] })),
  limit: awaiting,
}

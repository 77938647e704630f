import { Actor, ActorSystem, consoleLogger } from "../../src/index.js"
import type { Contender } from "../row.js"
import { inParallel } from "../rows/local-ask.js"

class Echo extends Actor {
  static readonly type = "Echo"

  next(number: number) {
    return number + 1
  }
}

/** Calls to one actor of this process, a number in and out, so many at a time. */
export const callingLocally = (inFlight: number): Contender => ({
  async setup() {
    const system = await ActorSystem.start({
      namespace: "bench",
      actors: [Echo],
      logger: consoleLogger({ level: "error" }),
    })
    const echo = system.actor(Echo, "one")
    await echo.next(0)
    return {
      run: (operations) => inParallel(inFlight, operations, (number) => echo.next(number)),
      teardown: () => system.stop(),
    }
  },
})

import { Actor, ActorSystem, consoleLogger } from "../../src/index.js"
import type { FreeRow } from "../row.js"
import { settledHeap } from "../settled-heap.js"

const ACTORS = 200_000

class Idler extends Actor<{ count: number }> {
  static readonly type = "Idler"

  protected override initialState() {
    return { count: 0 }
  }

  touch() {
    this.state.count += 1
    return this.state.count
  }
}

/**
 * The heap that a virtual actor takes which was called once and waits for the next call, its placement in the
 * memory store included.
 */
export const idleActivationBytes: FreeRow = {
  kind: "free",
  name: "idle-activation-bytes",
  unit: "bytes",
  bar: { of: "value", better: "lower", at: 1_000 },
  async measure(progress) {
    const system = await ActorSystem.start({
      namespace: "bench",
      actors: [Idler],
      logger: consoleLogger({ level: "error" }),
    })
    await system.actor(Idler, "first").touch()
    const before = settledHeap()
    progress(`starting ${ACTORS} actors`)
    let next = 0
    const lane = async () => {
      while (next < ACTORS) {
        next += 1
        await system.actor(Idler, `idler-${next}`).touch()
      }
    }
    await Promise.all(Array.from({ length: 64 }, lane))
    progress("collecting")
    const value = (settledHeap() - before) / ACTORS
    await system.stop()
    return { value }
  },
}

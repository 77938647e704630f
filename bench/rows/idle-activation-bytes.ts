import { Actor, type ActorClass, ActorSystem, consoleLogger, sharded } from "../../src/index.js"
import type { FreeRow } from "../row.js"
import { settledHeap } from "../settled-heap.js"

const ACTORS = 200_000

class Idler extends Actor<{ count: number }> {
  static readonly type: string = "Idler"

  protected override initialState() {
    return { count: 0 }
  }

  touch() {
    this.state.count += 1
    return this.state.count
  }
}

class ShardedIdler extends Idler {
  static override readonly type: string = "ShardedIdler"
  static readonly placement = sharded({ shards: 64 })
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
    return { value: await bytesOf(Idler, progress) }
  },
}

/** The same for an actor of a shard, against one with a placement of its own. */
export const idleEntityBytes: FreeRow = {
  kind: "free",
  name: "idle-entity-bytes",
  unit: "bytes",
  bar: { of: "ratio", better: "lower", at: 0.7 },
  async measure(progress) {
    // What is left of the first system may be collected while the second is measured, in favour of that.
    const value = await bytesOf(ShardedIdler, progress)
    const limit = await bytesOf(Idler, progress)
    return { value, limit, ratio: value / limit }
  },
}

async function bytesOf(type: ActorClass<Idler>, progress: (what: string) => void): Promise<number> {
  const system = await ActorSystem.start({
    namespace: "bench",
    actors: [type],
    logger: consoleLogger({ level: "error" }),
  })
  await system.actor(type, "first").touch()
  const before = settledHeap()
  progress(`starting ${ACTORS} actors`)
  let next = 0
  const lane = async () => {
    while (next < ACTORS) {
      next += 1
      await system.actor(type, `idler-${next}`).touch()
    }
  }
  await Promise.all(Array.from({ length: 64 }, lane))
  progress("collecting")
  const value = (settledHeap() - before) / ACTORS
  await system.stop()
  return value
}

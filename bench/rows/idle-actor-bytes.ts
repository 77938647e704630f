import { type ActorRef, ActorSystem, Behaviors } from "../../src/index.js"
import type { FreeRow } from "../row.js"
import { settledHeap } from "../settled-heap.js"

const ACTORS = 200_000

/**
 * The heap that an actor takes which has handled a message and waits for the next, its ref and its name
 * included.
 */
export const idleActorBytes: FreeRow = {
  kind: "free",
  name: "idle-actor-bytes",
  unit: "bytes",
  bar: { of: "value", better: "lower", at: 800 },
  async measure(progress) {
    const system = await ActorSystem.start({ namespace: "bench" })
    let handled = 0
    let done: () => void = () => {}
    const behavior = Behaviors.receive<string>(() => {
      handled += 1
      if (handled === ACTORS) done()
      return Behaviors.same
    })
    const refs: ActorRef<string>[] = new Array(ACTORS)
    const before = settledHeap()
    progress(`starting ${ACTORS} actors`)
    for (let index = 0; index < ACTORS; index += 1) refs[index] = system.spawn(behavior)
    await new Promise<void>((resolve) => {
      done = resolve
      for (const ref of refs) ref.tell("hello")
    })
    progress("collecting")
    const value = (settledHeap() - before) / ACTORS
    await system.stop()
    return { value }
  },
}

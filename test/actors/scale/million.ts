import { type ActorRef, ActorSystem, Behaviors } from "../../../src/index.js"

const ACTORS = 1_000_000

function settledHeap(): number {
  for (let round = 0; round < 4; round += 1) globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const before = settledHeap()
const system = await ActorSystem.start({ namespace: "million" })
let handled = 0
await new Promise<void>((resolve) => {
  const behavior = Behaviors.receive<number>(() => {
    handled += 1
    if (handled === ACTORS) resolve()
    return Behaviors.same
  })
  const refs: ActorRef<number>[] = []
  for (let index = 0; index < ACTORS; index += 1) refs.push(system.spawn(behavior))
  for (const ref of refs) ref.tell(1)
})
const living = settledHeap()
await system.stop()
const left = settledHeap()
process.stdout.write(JSON.stringify({ handled, livingBytes: living - before, leftBytes: left - before }))

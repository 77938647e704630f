import { once } from "node:events"
import { setTimeout as pause } from "node:timers/promises"
import { ShardMoved } from "../../src/index.js"
import { startChild } from "../remote/child.js"
import { ShardedEcho, startShardedNode } from "../remote/sharded-node.js"
import type { FreeRow } from "../row.js"
import { scratchFile } from "../sqlite/scratch-store.js"

const ACTORS = 2_000
const CALLERS = 200
/** Half of the shards, as the node that joins is the second. */
const MOVES = 100

/** How long it takes until a node that joins has its 100 of 200 shards, from the first move to the last. */
export const rebalance: FreeRow = {
  kind: "free",
  name: "rebalance",
  unit: "ms for 100 shards",
  measure: async () => ({ value: (await joined()).tookMs }),
}

/** The longest time that a caller waited for an answer meanwhile: the 99th percentile of all callers. */
export const rebalancePause: FreeRow = {
  kind: "free",
  name: "rebalance-pause",
  unit: "ms",
  bar: { of: "value", better: "lower", at: 100 },
  measure: async () => ({ value: (await joined()).pauseMs }),
}

async function joined(): Promise<{ readonly tookMs: number; readonly pauseMs: number }> {
  const { file, remove } = scratchFile()
  const system = await startShardedNode(file)
  for (let actor = 0; actor < ACTORS; actor += 1) await call(actor)
  const pauses = new Array<number>(CALLERS).fill(0)
  const movedAt: number[] = []
  const all = new EventTarget()
  system.events.subscribe(ShardMoved, () => {
    movedAt.push(performance.now())
    if (movedAt.length === MOVES) all.dispatchEvent(new Event("moved"))
  })
  let isOver = false
  const callers = pauses.map(async (_, caller) => {
    for (let actor = caller; !isOver; actor = (actor + CALLERS) % ACTORS) {
      const begin = performance.now()
      await call(actor)
      // Before the first move and after the last the callers wait for each other only.
      if (movedAt.length > 0 && movedAt.length < MOVES) {
        pauses[caller] = Math.max(pauses[caller] as number, performance.now() - begin)
      }
      await pause(5)
    }
  })
  const moved = once(all, "moved")
  const child = await startChild("sharded-node", file)
  await moved
  isOver = true
  await Promise.all(callers)
  await system.stop()
  await child.stop()
  remove()
  pauses.sort((a, b) => a - b)
  const tookMs = (movedAt.at(-1) as number) - (movedAt[0] as number)
  return { tookMs, pauseMs: pauses[Math.floor(CALLERS * 0.99) - 1] as number }

  function call(actor: number): Promise<string> {
    return system.actor(ShardedEcho, `actor-${actor}`).echo("hello")
  }
}

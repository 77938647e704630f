import type { ActorSystem } from "../../src/index.js"
import { FAR_AHEAD_MS, RemindedAccount } from "../reminded-account.js"
import { startChild } from "../remote/child.js"
import type { FreeRow } from "../row.js"
import { times } from "../sqlite/commit-lanes.js"
import { inLanes } from "../sqlite/scratch-registry.js"
import { scratchFile } from "../sqlite/scratch-store.js"
import { startOnFile } from "../sqlite/system-on-file.js"

const ACTORS = 10_000
const FEW_EACH = 1
const MANY_EACH = 100
const A_TURN = 25

/**
 * The heap of a node that keeps all wards of a store with 1,000,000 reminders, against one with 10,000 of them:
 * those of the same 10,000 actors. The store is on a thread of its own, which has a heap of its own.
 */
export const keeperMemory: FreeRow = {
  kind: "free",
  name: "keeper-memory",
  unit: "bytes",
  bar: { of: "ratio", better: "lower", at: 1.1 },
  async measure(progress) {
    const { file, remove } = scratchFile()
    await withSystem(file, (system) => setAll(system, 0, FEW_EACH))
    progress(`keeping ${ACTORS * FEW_EACH} reminders`)
    const limit = await heapOfKeeper(file)
    await withSystem(file, async (system) => {
      for (let from = FEW_EACH; from < MANY_EACH; from += A_TURN) {
        progress(`setting reminders, ${from * ACTORS} of ${MANY_EACH * ACTORS}`)
        await setAll(system, from, Math.min(MANY_EACH, from + A_TURN))
      }
    })
    progress(`keeping ${ACTORS * MANY_EACH} reminders`)
    const value = await heapOfKeeper(file)
    remove()
    return { value, limit, ratio: value / limit }
  },
}

async function withSystem(file: string, use: (system: ActorSystem) => Promise<void>): Promise<void> {
  const system = await startOnFile(file, RemindedAccount)
  await use(system)
  await system.stop()
}

/** Sets the reminders of these numbers, of each actor. */
async function setAll(system: ActorSystem, from: number, to: number): Promise<void> {
  const at = Date.now() + FAR_AHEAD_MS
  let actor = 0
  await inLanes(64, times(ACTORS), async () => {
    actor += 1
    await system.actor(RemindedAccount, `user-${actor}@example.com`).remindOften(from, to, at)
  })
}

/** In a process that has done nothing else. */
async function heapOfKeeper(file: string): Promise<number> {
  const child = await startChild("keeper-node", file)
  await child.stop()
  return Number(child.greeting)
}

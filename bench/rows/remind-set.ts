import type { ActorHandle } from "../../src/index.js"
import { latencyOf } from "../quantile.js"
import { FAR_AHEAD_MS, RemindedAccount } from "../reminded-account.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"
import { saving } from "../saving.js"
import { times } from "../sqlite/commit-lanes.js"
import { inLanes, ScratchRegistry } from "../sqlite/scratch-registry.js"
import { scratchFile } from "../sqlite/scratch-store.js"
import { startOnFile } from "../sqlite/system-on-file.js"

const IN_FLIGHT = 64

/**
 * Calls set the reminder of an actor, and cancel it, in turn, and half of the actors have one at any time: what
 * is stored neither grows nor shrinks. Both are two writes: the state, and an entry in the index of what is due.
 */
const reminding: Contender = {
  async setup(): Promise<Workload> {
    const { file, remove } = scratchFile()
    const system = await startOnFile(file, RemindedAccount)
    const handles = Array.from({ length: IN_FLIGHT }, (_, lane): ActorHandle<RemindedAccount> => {
      return system.actor(RemindedAccount, `user-${lane}@example.com`)
    })
    let at = Date.now() + FAR_AHEAD_MS
    const isSet = handles.map(() => false)
    const remind = async (lane: number) => {
      at += 1
      isSet[lane] = !isSet[lane]
      await (isSet[lane] ? handles[lane]?.remind(at) : handles[lane]?.forget())
    }
    await Promise.all(handles.map((_, lane) => remind(lane)))
    await Promise.all(handles.map((_, lane) => (lane % 2 === 0 ? remind(lane) : undefined)))
    return {
      fewestOperations: 4 * IN_FLIGHT,
      run: async (operations) => {
        const tookMs = await inLanes(IN_FLIGHT, times(operations), remind)
        return latencyOf(tookMs.map((ms) => ms * 1_000))
      },
      teardown: async () => {
        await system.stop()
        remove()
      },
    }
  },
}

/** Calls that set a reminder, or cancel it, to 64 actors at a time on SQLite, against the saves of as many states alone. */
export const remindSet: ThroughputRow = {
  kind: "throughput",
  name: "remind-set",
  unit: "calls/s",
  bar: { of: "ratio", better: "higher", at: 0.75 },
  ours: reminding,
  limit: saving(IN_FLIGHT, () => ScratchRegistry.start()),
}

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

type Step = (account: ActorHandle<RemindedAccount>, at: number) => Promise<void>

/** Calls of 64 actors, each of which takes these steps in turn; `at` is later with each call. */
function reminding(steps: readonly Step[]): Contender {
  return {
    async setup(): Promise<Workload> {
      const { file, remove } = scratchFile()
      const system = await startOnFile(file, RemindedAccount)
      const accounts = Array.from({ length: IN_FLIGHT }, (_, lane) => {
        const handle = system.actor(RemindedAccount, `user-${lane}@example.com`)
        return { handle, taken: lane }
      })
      let at = Date.now() + FAR_AHEAD_MS
      const call = async (lane: number) => {
        const account = accounts[lane] as (typeof accounts)[0]
        const step = steps[account.taken % steps.length] as Step
        at += 1
        account.taken += 1
        await step(account.handle, at)
      }
      await Promise.all(accounts.map((_, lane) => call(lane)))
      return {
        fewestOperations: 4 * IN_FLIGHT,
        run: async (operations) => {
          const tookMs = await inLanes(IN_FLIGHT, times(operations), call)
          return latencyOf(tookMs.map((ms) => ms * 1_000))
        },
        teardown: async () => {
          await system.stop()
          remove()
        },
      }
    },
  }
}

const set: Step = (account, at) => account.remind(at)
const cancel: Step = (account) => account.forget()

/** Calls that set a reminder, each for a later time, of 64 actors on SQLite, against saves of as many states. */
export const remindSet: ThroughputRow = {
  kind: "throughput",
  name: "remind-set",
  unit: "calls/s",
  bar: { of: "ratio", better: "higher", at: 0.75 },
  ours: reminding([set]),
  limit: saving(IN_FLIGHT, () => ScratchRegistry.start()),
}

/** As `remind-set`, where every other call cancels the reminder: each call changes the index of what is due. */
export const remindCancel: ThroughputRow = {
  kind: "throughput",
  name: "remind-cancel",
  unit: "calls/s",
  ours: reminding([set, cancel]),
  limit: saving(IN_FLIGHT, () => ScratchRegistry.start()),
}

import { setTimeout as pause } from "node:timers/promises"
import type { ActorSystem } from "../../src/index.js"
import { latencyOf } from "../quantile.js"
import { RemindedAccount } from "../reminded-account.js"
import type { FreeRow } from "../row.js"
import { times } from "../sqlite/commit-lanes.js"
import { FiredReminders } from "../sqlite/fired-reminders.js"
import { inLanes } from "../sqlite/scratch-registry.js"
import { scratchFile } from "../sqlite/scratch-store.js"
import { startOnFile } from "../sqlite/system-on-file.js"

const REMINDERS = 10_000
const WITHIN_MS = 1_000
/** Long enough to set all of them, to stop, and to start again. */
const AHEAD_MS = 15_000

/**
 * How late 10,000 reminders are that are due within one second, on one node and SQLite: the 99th percentile of
 * the times from when one was due until its turn was stored. None of the actors is active: the node that set
 * them has stopped, so each is claimed and started first.
 */
export const remindLateness: FreeRow = {
  kind: "free",
  name: "remind-lateness",
  unit: "s",
  bar: { of: "value", better: "lower", at: 1 },
  async measure(progress) {
    const { file, remove } = scratchFile()
    progress("setting reminders")
    const firstAt = Date.now() + AHEAD_MS
    const before = await startOnFile(file, RemindedAccount)
    await setAll(before, firstAt)
    await before.stop()
    const fired = new FiredReminders()
    const system = await startOnFile(file, RemindedAccount, fired)
    if (Date.now() >= firstAt - 1_000) throw new Error(`setting the reminders took more than ${AHEAD_MS} ms`)
    const all = fired.next(REMINDERS)
    await pause(firstAt - Date.now())
    progress("firing")
    const { p50Us, p99Us } = latencyOf((await all).map((ms) => ms * 1_000))
    await system.stop()
    remove()
    return { value: p99Us / 1e6, p50Us, p99Us }
  },
}

async function setAll(system: ActorSystem, firstAt: number): Promise<void> {
  let actor = 0
  await inLanes(64, times(REMINDERS), async () => {
    actor += 1
    const at = firstAt + Math.floor((actor * WITHIN_MS) / REMINDERS)
    await system.actor(RemindedAccount, `user-${actor}@example.com`).remind(at)
  })
}

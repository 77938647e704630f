import type { ActorSystem } from "../../src/index.js"
import { latencyOf } from "../quantile.js"
import { FAR_AHEAD_MS, RemindedAccount, remindAll } from "../reminded-account.js"
import type { FreeRow } from "../row.js"
import { FiredReminders } from "../sqlite/fired-reminders.js"
import { scratchFile } from "../sqlite/scratch-store.js"
import { startOnFile } from "../sqlite/system-on-file.js"

const REMINDERS = 10_000
const WITHIN_MS = 1_000
/** Between the time at which the node should have started, and the first reminder. */
const SPARE_MS = 2_000

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
    const beganAt = performance.now()
    await setAndStop(await startOnFile(file, RemindedAccount), Date.now() + FAR_AHEAD_MS)
    const tookMs = performance.now() - beganAt
    const firstAt = Date.now() + Math.ceil(3 * tookMs) + SPARE_MS
    await setAndStop(await startOnFile(file, RemindedAccount), firstAt)
    const fired = new FiredReminders()
    const all = fired.next(REMINDERS)
    const system = await startOnFile(file, RemindedAccount, fired)
    if (Date.now() >= firstAt - SPARE_MS / 2)
      throw new Error("setting the reminders took longer than expected; try again")
    progress("firing")
    const { p50Us, p99Us } = latencyOf((await all).map((ms) => ms * 1_000))
    await system.stop()
    remove()
    return { value: p99Us / 1e6, p50Us, p99Us }
  },
}

/** The reminders are spread over the time within which they are due. */
async function setAndStop(system: ActorSystem, firstAt: number): Promise<void> {
  const atOf = (actor: number) => firstAt + Math.floor(((actor - 1) * WITHIN_MS) / REMINDERS)
  await remindAll(system, RemindedAccount, { actors: REMINDERS, atOf })
  await system.stop()
}

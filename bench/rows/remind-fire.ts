import { median } from "../quantile.js"
import { FAR_AHEAD_MS, remindAll, ShardedRemindedAccount } from "../reminded-account.js"
import type { FreeRow } from "../row.js"
import { saving } from "../saving.js"
import { FiredReminders } from "../sqlite/fired-reminders.js"
import { ScratchRegistry } from "../sqlite/scratch-registry.js"
import { scratchFile } from "../sqlite/scratch-store.js"
import { startOnFile } from "../sqlite/system-on-file.js"

const IN_FLIGHT = 64
const ACTORS = 5_000
const WARM_UPS = 3
const ROUNDS = 7
/** Between the time at which all reminders should be set, and that for which they are. */
const SPARE_MS = 500

/**
 * Reminders of sharded actors on SQLite, all due at the same time, from then until the turns of all of them
 * are stored, against saves of 64 states at a time. The actors are active, and some rounds go before.
 */
export const remindFire: FreeRow = {
  kind: "free",
  name: "remind-fire",
  unit: "turns/s",
  bar: { of: "ratio", better: "higher", at: 0.4 },
  async measure(progress) {
    const { file, remove } = scratchFile()
    const fired = new FiredReminders()
    const system = await startOnFile(file, ShardedRemindedAccount, fired)
    const saves = await saving(IN_FLIGHT, () => ScratchRegistry.start()).setup()
    progress("starting actors")
    let settingMs = await setAll(Date.now() + FAR_AHEAD_MS)
    const firing: number[] = []
    const savesPerSecond: number[] = []
    for (let round = 1 - WARM_UPS; round <= ROUNDS; round += 1) {
      progress(round < 1 ? "warming up" : `round ${round} of ${ROUNDS}`)
      firing.push(await fireAll())
      savesPerSecond.push(await saveAll())
    }
    await system.stop()
    await saves.teardown?.()
    remove()
    const value = median(firing.slice(WARM_UPS))
    const limit = median(savesPerSecond.slice(WARM_UPS))
    return { value, limit, ratio: value / limit }

    /** Says how many were fired in a second. */
    async function fireAll(): Promise<number> {
      for (;;) {
        const at = Date.now() + Math.ceil(2 * settingMs) + SPARE_MS
        const all = fired.next(ACTORS)
        settingMs = await setAll(at)
        const isSetInTime = Date.now() < at
        globalThis.gc?.({ type: "minor" })
        const lateMs = await all
        if (isSetInTime) return (ACTORS * 1_000) / lateMs.reduce((longest, one) => Math.max(longest, one), 1)
        progress("setting the reminders took too long; once more")
      }
    }

    function setAll(at: number): Promise<number> {
      return remindAll(system, ShardedRemindedAccount, { actors: ACTORS, atOf: () => at })
    }

    async function saveAll(): Promise<number> {
      globalThis.gc?.({ type: "minor" })
      const beganAt = performance.now()
      await saves.run(ACTORS)
      return (ACTORS * 1_000) / (performance.now() - beganAt)
    }
  },
}

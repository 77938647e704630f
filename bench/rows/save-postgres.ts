import { bareUpdates } from "../postgres/bare-updates.js"
import { openScratchStore } from "../postgres/scratch-database.js"
import type { ThroughputRow } from "../row.js"
import { saving } from "../saving.js"
import { ScratchRegistry } from "../sqlite/scratch-registry.js"

const open = async () => {
  const { store, remove } = await openScratchStore()
  return ScratchRegistry.over(store, remove)
}

/** An actor saves its state; each has a save in flight. */
function savePostgres(inFlight: number, at: number): ThroughputRow {
  return {
    kind: "throughput",
    name: `save-postgres-${inFlight}`,
    unit: "saves/s",
    bar: { of: "ratio", better: "higher", at },
    ours: saving(inFlight, open),
    limit: bareUpdates(inFlight),
  }
}

export const savePostgres1 = savePostgres(1, 0.5)
export const savePostgres64 = savePostgres(64, 0.6)
export const savePostgres1024 = savePostgres(1_024, 0.5)

import { committing } from "../committing.js"
import { bareUpdates } from "../postgres/bare-updates.js"
import { openScratchStore } from "../postgres/scratch-database.js"
import type { ThroughputRow } from "../row.js"

/** Keys of no lease: those have a connection of their own. */
const keyOf = (lane: number): string => `index/lane-${lane}`

/** Commits on a condition, durable before they are answered. */
function commitPostgres(inFlight: number, at: number): ThroughputRow {
  return {
    kind: "throughput",
    name: `commit-postgres-${inFlight}`,
    unit: "commits/s",
    bar: { of: "ratio", better: "higher", at },
    ours: committing(inFlight, keyOf, openScratchStore),
    limit: bareUpdates(inFlight),
  }
}

export const commitPostgres1 = commitPostgres(1, 0.5)
export const commitPostgres64 = commitPostgres(64, 0.6)
export const commitPostgres1024 = commitPostgres(1_024, 0.5)

import { committing } from "../committing.js"
import { barePuts } from "../etcd/bare-puts.js"
import { keyOf, scratchEtcd } from "../etcd/scratch-etcd.js"
import type { ThroughputRow } from "../row.js"
import { VALUE_BYTES } from "../sqlite/commit-lanes.js"

const row = (inFlight: number): ThroughputRow => ({
  kind: "throughput",
  name: `commit-etcd-${inFlight}`,
  unit: "commits/s",
  bar: { of: "ratio", better: "higher", at: 0.5 },
  ours: committing(inFlight, keyOf, scratchEtcd),
  limit: barePuts(inFlight, VALUE_BYTES),
})

/** One commit on a condition after the other: mostly the flush of the server. */
export const commitEtcd1 = row(1)
/** Commits that travel together. */
export const commitEtcd64 = row(64)
/** Transactions that are as full as they get. */
export const commitEtcd1024 = row(1024)

import { barePuts } from "../etcd/bare-puts.js"
import { scratchEtcd } from "../etcd/scratch-etcd.js"
import type { ThroughputRow } from "../row.js"
import { STORED_BYTES, saving } from "../saving.js"
import { ScratchRegistry } from "../sqlite/scratch-registry.js"

const open = async () => {
  const { store, remove } = await scratchEtcd()
  return ScratchRegistry.over(store, remove)
}

const row = (inFlight: number): ThroughputRow => ({
  kind: "throughput",
  name: `save-etcd-${inFlight}`,
  unit: "saves/s",
  bar: { of: "ratio", better: "higher", at: 0.5 },
  ours: saving(inFlight, open),
  limit: barePuts(inFlight, STORED_BYTES),
})

/** Actors save their states, each with one save in flight. */
export const saveEtcd1 = row(1)
export const saveEtcd64 = row(64)
export const saveEtcd1024 = row(1024)

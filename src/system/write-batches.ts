import type { Write } from "../ports/store.js"

/** Divides writes into those of one commit each. The last one has room for the state. */
export function batches(writes: readonly Write[], stateBytes: number): Write[][] {
  const all: Write[][] = []
  let batch: Write[] = []
  let bytes = stateBytes
  for (const write of [...writes].reverse()) {
    const size = write.key.length + (write.kind === "put" ? write.value.length : 0)
    if (batch.length > 0 && (batch.length === MOST_WRITES || bytes + size > MOST_BYTES)) {
      all.unshift(batch)
      batch = []
      bytes = 0
    }
    batch.push(write)
    bytes += size
  }
  all.unshift(batch)
  return all
}

/** Beside the state. */
const MOST_WRITES = 100
/** A commit has 1 MiB, and 64 KiB for keys and the head. */
const MOST_BYTES = 1_024 * 1_024

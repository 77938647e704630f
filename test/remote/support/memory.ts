import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

/** Returns the memory in use after garbage collection: objects, and the bytes of buffers. */
export async function bytesInUse(): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    collect()
    // Lets finalizers and the event loop run in between.
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/**
 * Returns the least memory in use at several moments, for a process that is working: what its calls in flight
 * hold comes and goes, and what leaks is there each time.
 */
export async function leastBytesInUse(): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let moment = 0; moment < 16; moment += 1) least = Math.min(least, await bytesInUse())
  return least
}

export const MIB = 1024 * 1024

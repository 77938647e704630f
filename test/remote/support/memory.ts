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

export const MIB = 1024 * 1024

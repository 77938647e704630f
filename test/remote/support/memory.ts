import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

/** What is in use once all garbage is gone: objects, and the bytes of buffers. */
export async function bytesInUse(): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    collect()
    // What waits for a finaliser or for the event loop is let go in between.
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

export const MIB = 1024 * 1024

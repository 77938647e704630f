import { randomFillSync } from "node:crypto"
import type { Random } from "../ports/random.js"

/** The generator of the operating system, through OpenSSL: fit for secrets. */
export const nodeRandom: Random = {
  uint32: () => {
    if (next === pool.length) {
      randomFillSync(pool)
      next = 0
    }
    return pool[next++] as number
  },
  bytes: (length) => randomFillSync(new Uint8Array(length)),
}

// Requesting four bytes at a time would take a thousand times as long as copying them.
const pool = new Uint32Array(1_024)
let next = pool.length

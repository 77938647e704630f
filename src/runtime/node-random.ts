import { randomFillSync } from "node:crypto"
import type { Random } from "../ports/random.js"

/** The operating system's generator, by way of OpenSSL: fit for secrets. */
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

// Asking for four bytes at a time would cost a thousand times as much as copying them.
const pool = new Uint32Array(1_024)
let next = pool.length

/** Calls `process.exit` while its store is very busy. */
import { openStore, report } from "./store-of-program.js"

const store = await openStore()
const { epoch } = await store.get("any")
let acknowledged = 0

for (let lane = 0; lane < 64; lane += 1) writeForEver(`k${lane}`)

async function writeForEver(key: string): Promise<void> {
  for (;;) {
    await store.commit({ epoch, conditions: [], writes: [{ kind: "put", key, value: new Uint8Array(100) }] })
    acknowledged += 1
    if (acknowledged === 500) {
      report("busy")
      setImmediate(() => process.exit(7))
    }
  }
}

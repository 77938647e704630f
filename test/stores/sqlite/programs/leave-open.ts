/** Neither closes its store nor ends its watch. */
import { openStore, report } from "./store-of-program.js"

const store = await openStore()
const listing = await store.list("")
store.watch("nodes/", listing, { changed: () => {}, gap: () => {} })
const write = { kind: "put", key: "left", value: new Uint8Array(1) } as const
const result = await store.commit({ epoch: listing.epoch, conditions: [], writes: [write] })
report(result.kind)
process.disconnect()

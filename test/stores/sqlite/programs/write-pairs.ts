/**
 * Writes pairs of keys until it is killed, the two of a pair in one commit, many at a time, and reports each
 * pair that was acknowledged.
 */
import { openStore, report } from "./store-of-program.js"

const LANES = 32

const name = process.argv[3]
const store = await openStore()
const { epoch } = await store.get("any")
let number = 0

await Promise.all(
  Array.from({ length: LANES }, async () => {
    for (;;) {
      number += 1
      const key = `nodes/${name}/${number}`
      const put = (side: string) =>
        ({ kind: "put", key: `${key}/${side}`, value: new Uint8Array(200) }) as const
      const result = await store.commit({ epoch, conditions: [], writes: [put("left"), put("right")] })
      report({ key, revision: result.kind === "committed" ? result.revision : result.kind })
    }
  }),
)

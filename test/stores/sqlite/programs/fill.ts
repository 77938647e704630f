/** Commits until a commit fails, and reports the failure. */
import { openStore, report } from "./store-of-program.js"

const store = await openStore()
const { epoch } = await store.get("any")
let acknowledged = 0
try {
  for (;;) {
    const write = { kind: "put", key: `k${acknowledged}`, value: new Uint8Array(4_000).fill(1) } as const
    await store.commit({ epoch, conditions: [], writes: [write] })
    acknowledged += 1
  }
} catch (error) {
  const { code, commitment, problem, message } = error as Readonly<Record<string, unknown>>
  const left = await store.list("k").then(
    ({ entries }) => entries.length,
    () => "cannot be read",
  )
  report({ code, commitment, problem, message, acknowledged, left })
}
await store.close()
process.disconnect()

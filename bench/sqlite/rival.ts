/** One of two processes that commit to the same file as fast as they can. */
import { CommitLanes, forMs } from "./commit-lanes.js"
import { openStore } from "./scratch-store.js"

export interface RivalReport {
  readonly commits: number
  readonly longestMs: number
}

/** Its keys are in a namespace that both share, so each has lanes of its own. */
const [file, durationMs, inFlight] = process.argv.slice(2) as [string, string, string]
const store = await openStore(file)
const lanes = await CommitLanes.start(prefixed(`${process.pid}`), Number(inFlight))
process.send?.("ready")
process.once("message", async () => {
  const tookMs = await lanes.run(forMs(Number(durationMs)))
  const longestMs = tookMs.reduce((longest, one) => Math.max(longest, one), 0)
  await store.close()
  const report: RivalReport = { commits: tookMs.length, longestMs }
  process.send?.(report, () => process.exit())
})

function prefixed(prefix: string): typeof store {
  return {
    identity: store.identity,
    get: (key) => store.get(key),
    list: (prefix, options) => store.list(prefix, options),
    watch: (key, from, watcher) => store.watch(key, from, watcher),
    close: () => store.close(),
    commit: ({ epoch, conditions, writes }) =>
      store.commit({
        epoch,
        conditions: conditions.map((one) => ({ ...one, key: `${prefix}/${one.key}` })),
        writes: writes.map((one) => ({ ...one, key: `${prefix}/${one.key}` })),
      }),
  }
}

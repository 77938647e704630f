import { type ActorSystemSettings, consoleLogger } from "../src/index.js"
import { type StoreOptions, storeOf } from "../tools/store-options.js"

export interface ClusterOptions {
  /** For temporary files. It is removed with the demo. */
  readonly folder: string
  readonly store: StoreOptions
  readonly deathProof: boolean
}

/** What the nodes and the bank have in common. */
export function clusterSettings({ store, deathProof }: ClusterOptions) {
  return {
    namespace: "demo",
    listen: { host: "127.0.0.1", port: 0 },
    store: storeOf(store),
    lease: { deathProof },
    requestTimeoutMs: 15_000,
    // All are on this machine: a node that runs can be reached at once.
    reconnect: { fromMs: 50, toMs: 500 },
    logger: consoleLogger({ level: "error" }),
  } satisfies ActorSystemSettings
}

import { type ActorSystemSettings, consoleLogger } from "../src/index.js"
import { sqliteStore } from "../src/stores/sqlite/index.js"

export interface ClusterOptions {
  /** Where the store is. It is removed with the demo. */
  readonly folder: string
  readonly deathProof: boolean
}

/** What the nodes and the bank have in common. */
export function clusterSettings({ folder, deathProof }: ClusterOptions) {
  return {
    namespace: "demo",
    listen: { host: "127.0.0.1", port: 0 },
    store: sqliteStore({ file: `${folder}/demo.db` }),
    lease: { deathProof },
    requestTimeoutMs: 15_000,
    // All are on this machine: a node that runs can be reached at once.
    reconnect: { fromMs: 50, toMs: 500 },
    logger: consoleLogger({ level: "error" }),
  } satisfies ActorSystemSettings
}

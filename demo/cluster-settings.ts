import type { ActorSystemSettings } from "../src/index.js"

export interface ClusterOptions {
  /** Of the store. The folder it is in goes with the demo. */
  readonly file: string
  readonly deathProof: boolean
}

/** What the nodes and their client have in common. */
export function clusterSettings({ deathProof }: ClusterOptions) {
  return {
    namespace: "demo",
    listen: { host: "127.0.0.1", port: 0 },
    lease: { deathProof },
    requestTimeoutMs: 15_000,
    // All are on this machine: one that is there can be reached at once.
    reconnect: { fromMs: 50, toMs: 500 },
  } satisfies ActorSystemSettings
}

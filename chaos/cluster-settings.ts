import type { ActorSystemSettings } from "../src/index.js"

/** Short, so that much happens in a minute. */
export const TTL_MS = 2_000

/** What nodes and clients have in common. They are reached at `advertised`, where a proxy is. */
export function clusterSettings(port: number, advertised: number) {
  return {
    namespace: "chaos",
    listen: { host: "127.0.0.1", port },
    advertise: { port: advertised },
    lease: { ttlMs: TTL_MS },
    requestTimeoutMs: 5_000,
    drainMs: 5_000,
    reconnect: { fromMs: 50, toMs: 500 },
    keepAlive: { intervalMs: 500, timeoutMs: 2_000 },
    unreachableAfterMs: 2_000,
  } satisfies ActorSystemSettings
}

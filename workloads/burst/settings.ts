import type { Stage } from "../../src/sim/index.js"
import type { ClusterSettings } from "../cluster/cluster.js"

/** Of nodes whose items are never idle for long enough to end. */
export function settingsOf(stage: Stage, { ttlMs, requestTimeoutMs }: Times): ClusterSettings {
  return {
    requestTimeoutMs,
    drainMs: 1_000,
    idleAfterMs: 3_600_000,
    reconnect: { fromMs: 50, toMs: 500 },
    keepAlive: { intervalMs: 2_000, timeoutMs: 6_000 },
    lease: { ttlMs, driftMargin: 0.1, deathProof: stage.knob("deathProof", [false, true]) },
  }
}

interface Times {
  readonly ttlMs: number
  readonly requestTimeoutMs: number
}

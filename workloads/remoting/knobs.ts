import type { ActorSystemSettings } from "../../src/index.js"
import type { Stage } from "../../src/sim/index.js"

export type RemotingSettings = Omit<ActorSystemSettings, "namespace" | "listen" | "codec"> &
  Required<
    Pick<ActorSystemSettings, "deferred" | "keepAlive" | "reconnect" | "quarantineMs" | "requestTimeoutMs">
  >

/** Settings as small as they come, or as they are in production. */
export function drawSettings(stage: Stage): RemotingSettings {
  const fromMs = stage.knob("reconnect.fromMs", [10, 100, 1_000])
  const intervalMs = stage.knob("keepAlive.intervalMs", [200, 500, 2_000])
  return {
    requestTimeoutMs: stage.knob("requestTimeoutMs", [300, 2_000, 5_000]),
    drainMs: 1_000,
    reconnect: { fromMs, toMs: fromMs * 4 },
    keepAlive: { intervalMs, timeoutMs: intervalMs * 3 },
    deferred: {
      perAuthority: stage.knob("deferred.perAuthority", [4, 32, 1_024]),
      total: stage.knob("deferred.total", [8, 48, 8_192]),
    },
    outboundBuffer: {
      bytes: stage.knob("outboundBuffer.bytes", [128 * 1024, 16 * 1024 * 1024]),
      overflow: stage.knob("outboundBuffer.overflow", ["refuse", "drop-oldest"] as const),
    },
    quarantineMs: stage.knob("quarantineMs", [2_000, 5 * 24 * 3_600_000]),
    unreachableAfterMs: stage.knob("unreachableAfterMs", [1_000, 4_000]),
    inboundBuffer: { messages: stage.knob("inboundBuffer.messages", [2, 16_384]) },
  }
}

/** How long it takes at most until all who want to are connected again, once the faults are over. */
export function settlingMs({ keepAlive, reconnect }: RemotingSettings): number {
  const CONNECT_AND_HANDSHAKE_MS = 15_000
  const BOOT_MS = 5_000
  return (
    1.1 *
    (BOOT_MS + 2 * CONNECT_AND_HANDSHAKE_MS + 2 * (keepAlive.timeoutMs ?? 0) + 2 * (reconnect.toMs ?? 0))
  )
}

import type { ActorSystemSettings } from "../src/index.js"
import { serverTls } from "../tools/engines/server-tls.js"

/** Short, so that much happens in a minute. */
export const TTL_MS = 2_000
/** After how long a node that is cut off is declared down, on a machine that is not too busy. */
export const DOWN_MS = 8_000

export interface Place {
  readonly host: string
  /** Where it listens itself. */
  readonly port: number
  /** The port where others reach it, which may be that of a relay. */
  readonly advertised: number
  /** Whether the kernel can prove to the others that a process has died. */
  readonly hasDeathProof: boolean
}

/** What nodes and clients have in common. */
export function clusterSettings(name: string, { host, port, advertised, hasDeathProof }: Place) {
  return {
    namespace: "chaos",
    listen: {
      host,
      port,
      secret: "a secret that is in the sources and for chaos alone",
      tls: { ...serverTls, mutual: true, serverName: serverNameOf(name) },
    },
    advertise: { port: advertised },
    lease: { ttlMs: TTL_MS, deathProof: hasDeathProof },
    requestTimeoutMs: 5_000,
    drainMs: 5_000,
    reconnect: { fromMs: 50, toMs: 500 },
    keepAlive: { intervalMs: 500, timeoutMs: 2_000 },
    unreachableAfterMs: 2_000,
    heartbeat: { intervalMs: 500, acceptablePauseMs: 1_500 },
    splitBrain: { stableAfterMs: 3_000 },
  } satisfies ActorSystemSettings
}

/**
 * The server name that a node asks for when it dials another. All have the same certificate, which is for every such
 * name, and relays tell by it who dials.
 */
export function serverNameOf(name: string): string {
  return `${name}.troupe.test`
}

import type { ActorSystemSettings } from "../../src/index.js"
import type { SimStore, Stage } from "../../src/sim/index.js"
import type { Desk } from "./desk.js"
import type { Pace } from "./pace.js"

/** What all nodes of a run share. */
export interface BurstShow {
  readonly namespace: string
  readonly store: SimStore
  readonly storeTimeoutMs: number
  readonly settings: BurstSettings
  /** Nothing is made to go wrong, so that every call is answered. */
  readonly isFaultless: boolean
  readonly desks: Map<string, Desk>
}

export type BurstSettings = Omit<ActorSystemSettings, "namespace" | "listen" | "store" | "actors"> & {
  readonly requestTimeoutMs: number
  readonly lease: { readonly ttlMs: number }
}

export function drawShow(stage: Stage, { service, ttlMs }: Pace): BurstShow {
  const isFaultless = (["crash", "pause", "reset"] as const).every((kind) => stage.faults[kind] === 0)
  return {
    namespace: "burst",
    store: stage.store("store", { keptCommits: 100, service }),
    // Nobody gives up on what is only slow.
    storeTimeoutMs: PATIENCE_MS,
    settings: settingsOf(stage, { ttlMs, requestTimeoutMs: isFaultless ? PATIENCE_MS : 10_000 }),
    isFaultless,
    desks: new Map(),
  }
}

const PATIENCE_MS = 120_000

export function settingsOf(stage: Stage, { ttlMs, requestTimeoutMs }: Times): BurstSettings {
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

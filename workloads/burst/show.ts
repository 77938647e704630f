import type { ActorSystemSettings } from "../../src/index.js"
import type { SimStore, Stage, StoreService } from "../../src/sim/index.js"
import type { Desk } from "./desk.js"

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

export function drawShow(stage: Stage): BurstShow {
  const isFaultless = (["crash", "pause", "reset"] as const).every((kind) => stage.faults[kind] === 0)
  const ttlMs = stage.knob("ttlMs", [1_500, 3_000, 5_000])
  return {
    namespace: "burst",
    store: stage.store("store", { keptCommits: 100, service: drawService(stage, ttlMs) }),
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

/** Some stores are fast, some take long over much, and some are slow over everything, though never so slow that a lease could not be renewed. */
function drawService(stage: Stage, ttlMs: number): StoreService {
  const pace = stage.knob("pace", ["fast", "busy", "busy", "slow"] as const)
  switch (pace) {
    case "fast":
      return { commitMs: 0.02, kibMs: 0.001 }
    case "busy":
      return {
        commitMs: stage.knob("commitMs", [0.1, 0.5]),
        kibMs: stage.knob("kibMs", [0.02, 0.1, 0.2]),
        order: stage.knob("order", ["lanes", "fifo"] as const),
      }
    case "slow":
      return { delayMs: Math.ceil(stage.random.between(0.17, 0.3) * ttlMs) }
  }
}

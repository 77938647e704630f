import type { ActorSystemSettings } from "../../src/index.js"
import { faultKinds, type SimStore, type Stage } from "../../src/sim/index.js"
import type { Host } from "./host.js"

/** What all nodes of a run share. */
export interface RegistryShow {
  readonly namespace: string
  readonly store: SimStore
  readonly settings: RegistrySettings
  readonly storeTimeoutMs: number
  /** The store's answers to commits are heard this much later at most. */
  readonly answerMs: number
  /** The share of saves that get stuck on their way out. */
  readonly sticking: number
  /** How often each activation wants to say something. */
  readonly speakMs: number
  readonly ids: readonly string[]
  /** Whoever is on each machine now. */
  readonly hosts: Map<string, Host>
  /** The name of the life on each machine. */
  readonly lives: Map<string, string>
  isOver: boolean
  /** Who leaves now does not come back. */
  isClosing: boolean
  /** True time of the present step. */
  stepMs(): number
  /** A node has left as planned, and its system has stopped. */
  left(node: string): void
}

export type RegistrySettings = Omit<ActorSystemSettings, "namespace" | "listen" | "store" | "logger"> & {
  readonly requestTimeoutMs: number
  readonly lease: { readonly ttlMs: number; readonly driftMargin: number; readonly deathProof: boolean }
}

export function drawShow(stage: Stage): RegistryShow {
  return {
    namespace: "registry",
    store: stage.store("store", { keptCommits: stage.knob("keptCommits", [20, 1_000]) }),
    settings: {
      requestTimeoutMs: stage.knob("requestTimeoutMs", [1_000, 4_000]),
      drainMs: 1_000,
      reconnect: { fromMs: 50, toMs: 500 },
      keepAlive: { intervalMs: 2_000, timeoutMs: 6_000 },
      lease: {
        ttlMs: stage.knob("ttlMs", [1_000, 2_000, 5_000]),
        driftMargin: 0.1,
        deathProof: stage.knob("deathProof", [false, false, true]),
      },
    },
    storeTimeoutMs: stage.knob("storeTimeoutMs", [300, 1_000, 3_000]),
    answerMs: stage.knob("answerMs", [0, 0, 120]),
    sticking: stage.faults["store-late-arrival"] * 0.05,
    speakMs: stage.knob("speakMs", [80, 250]),
    ids: ["counter/a", "counter/b", "counter/c", "counter/d"].slice(0, stage.knob("ids", [1, 2, 4])),
    hosts: new Map(),
    lives: new Map(),
    isOver: false,
    isClosing: false,
    stepMs: () => stage.nowMs,
    left: (node) => {
      if (faultKinds.some((kind) => stage.faults[kind] > 0)) return
      stage.record({ kind: "left", node })
    },
  }
}

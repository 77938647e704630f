import {
  type ActorSystemSettings,
  leastLoadedOfTwo,
  type PlacementStrategy,
  preferLocal,
  random,
  rendezvous,
} from "../../src/index.js"
import { faultKinds, type SimStore, type Stage } from "../../src/sim/index.js"
import type { Host } from "./host.js"
import { typeNames } from "./performers.js"

/** What all nodes of a run share. */
export interface ActivationShow {
  readonly namespace: string
  readonly store: SimStore
  readonly storeTimeoutMs: number
  readonly settings: ActivationSettings
  readonly placement: PlacementStrategy
  /** In the order in which actors may wait for each other: one that calls an earlier one could wait for itself. */
  readonly ids: readonly string[]
  readonly clients: number
  readonly pauseMs: number
  readonly burst: number
  readonly thinkMs: number
  /** Nothing is made to go wrong. */
  readonly isFaultless: boolean
  /** Whoever is on each machine now. */
  readonly hosts: Map<string, Host>
  /** The systems that were told to stop. */
  readonly leaving: Set<string>
  /** A node has left while turns were under way: one may wait, by way of others, for a type that only that node hosts. */
  hasLeftBehind: boolean
  isOver: boolean
  /** The latest generation of an actor. */
  latest: (id: string) => number
  /** Where machines stand still anyway, this one may do so in a moment, for as long as others need to take its actors over. */
  mayStopSoon: (life: string) => void
  nextOp(): number
  /** True time of the present step. */
  stepMs(): number
  operation(): void
}

export type ActivationSettings = Omit<ActorSystemSettings, "namespace" | "listen" | "store" | "actors"> & {
  readonly requestTimeoutMs: number
  readonly drainMs: number
  readonly lease: { readonly ttlMs: number }
}

const strategies = { rendezvous, preferLocal, random, leastLoadedOfTwo }

export function drawShow(stage: Stage): ActivationShow {
  const cold = stage.knob("cold", [1, 3])
  const keys = ["hot", ...Array.from({ length: cold }, (_, index) => `cold-${index}`)]
  const isFaultless = faultKinds.every((kind) => stage.faults[kind] === 0)
  let ops = 0
  return {
    namespace: "activation",
    store: stage.store("store", { keptCommits: stage.knob("keptCommits", [20, 1_000]) }),
    storeTimeoutMs: stage.knob("storeTimeoutMs", [300, 1_000]),
    settings: {
      // Where nothing goes wrong, whoever waits is served in the end.
      requestTimeoutMs: isFaultless ? 60_000 : stage.knob("requestTimeoutMs", [1_000, 2_500, 8_000]),
      drainMs: isFaultless ? 30_000 : 1_000,
      idleAfterMs: stage.knob("idleAfterMs", [2_000, 600_000]),
      mailboxCapacity: stage.knob("mailboxCapacity", [20, 10_000]),
      maxForwards: stage.knob("maxForwards", [1, 2]),
      reconnect: { fromMs: 50, toMs: 500 },
      keepAlive: { intervalMs: 1_500, timeoutMs: 4_500 },
      lease: {
        ttlMs: stage.knob("ttlMs", [1_500, 3_000]),
        driftMargin: 0.1,
        deathProof: stage.knob("deathProof", [false, false, true]),
      },
    },
    placement: strategies[stage.knob("placement", Object.keys(strategies) as (keyof typeof strategies)[])],
    ids: keys.flatMap((key) => typeNames.map((type) => `${type}/${key}`)),
    clients: stage.knob("clients", [1, 2]),
    pauseMs: stage.knob("pauseMs", [100, 600]),
    burst: stage.knob("burst", [1, 4, 10]),
    thinkMs: stage.knob("thinkMs", [20, 300]),
    isFaultless,
    hosts: new Map(),
    leaving: new Set(),
    hasLeftBehind: false,
    isOver: false,
    latest: () => 0,
    mayStopSoon: () => {},
    nextOp: () => {
      ops += 1
      return ops
    },
    stepMs: () => stage.nowMs,
    operation: () => stage.operation(),
  }
}

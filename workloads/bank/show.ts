import {
  type ActorSystemSettings,
  leastLoadedOfTwo,
  type PlacementStrategy,
  preferLocal,
  random,
  rendezvous,
} from "../../src/index.js"
import { faultKinds, type SimStore, type Stage } from "../../src/sim/index.js"
import type { AccountRules } from "./account.js"
import type { Branch } from "./branch.js"
import { OrderBook } from "./order-book.js"

/** What all nodes of a run share. */
export interface BankShow {
  readonly namespace: string
  readonly store: SimStore
  readonly storeTimeoutMs: number
  readonly settings: BankSettings
  readonly placement: PlacementStrategy
  readonly rules: AccountRules
  readonly book: OrderBook
  /** Who carries orders out: the client that has one, or an actor of the order's own. */
  readonly mover: "client" | "actor"
  readonly tellers: number
  readonly pauseMs: number
  /** Whether each node has a client that looks at accounts all the time. */
  readonly hasWatcher: boolean
  /** How many of the calls are given up sooner than need be. */
  readonly impatience: number
  /** Until the last commit that is late has arrived, where some are. */
  readonly waitsForLate: boolean
  /** Nothing is made to go wrong. */
  readonly isFaultless: boolean
  /** Whoever is on each machine now. */
  readonly branches: Map<string, Branch>
  isOver: boolean
  nextOp(): number
  /** True time of the present step. */
  stepMs(): number
  operation(): void
}

export type BankSettings = Omit<ActorSystemSettings, "namespace" | "listen" | "store" | "actors"> & {
  readonly requestTimeoutMs: number
  readonly drainMs: number
  readonly lease: { readonly ttlMs: number }
}

const strategies = { rendezvous, preferLocal, random, leastLoadedOfTwo }

export function drawShow(stage: Stage, rules: AccountRules): BankShow {
  const accounts = ["ada", "ben", "cyd", "dan"].slice(0, stage.knob("accounts", [2, 3, 4]))
  const isFaultless = faultKinds.every((kind) => stage.faults[kind] === 0)
  let ops = 0
  return {
    namespace: "bank",
    store: stage.store("store", { keptCommits: stage.knob("keptCommits", [20, 1_000]) }),
    storeTimeoutMs: stage.knob("storeTimeoutMs", [300, 1_000]),
    settings: {
      // Where nothing goes wrong, whoever waits is served in the end.
      requestTimeoutMs: isFaultless ? 60_000 : stage.knob("requestTimeoutMs", [1_000, 3_000]),
      drainMs: isFaultless ? 30_000 : 2_000,
      idleAfterMs: stage.knob("idleAfterMs", [500, 600_000]),
      reconnect: { fromMs: 50, toMs: 500 },
      keepAlive: { intervalMs: 1_000, timeoutMs: 4_000 },
      lease: {
        ttlMs: stage.knob("ttlMs", [1_000, 2_000]),
        driftMargin: 0.1,
        deathProof: stage.knob("deathProof", [false, false, true]),
      },
    },
    placement: strategies[stage.knob("placement", Object.keys(strategies) as (keyof typeof strategies)[])],
    rules,
    book: new OrderBook(accounts, stage.knob("orders", [20, 40])),
    mover: stage.knob("mover", ["client", "actor"]),
    tellers: stage.knob("tellers", [1, 2]),
    pauseMs: stage.knob("pauseMs", [100, 500]),
    hasWatcher: stage.knob("hasWatcher", [false, true]),
    impatience: isFaultless ? 0 : stage.knob("impatience", [0, 0.15]),
    waitsForLate: stage.knob("waitsForLate", [false, false, true]),
    isFaultless,
    branches: new Map(),
    isOver: false,
    nextOp: () => {
      ops += 1
      return ops
    },
    stepMs: () => stage.nowMs,
    operation: () => stage.operation(),
  }
}

import { downAll, keepMajority, keepOldest, type SplitBrainStrategy, staticQuorum } from "../../src/index.js"
import type { Stage } from "../../src/sim/index.js"

/** The settings that one seed has drawn for all nodes. */
export interface Terms {
  /** How nodes find each other. */
  readonly by: "seeds" | "store"
  /** How many nodes there are when the scene begins. */
  readonly nodes: number
  readonly strategy: StrategyName
  /** The quorum of `staticQuorum`. */
  readonly quorum: number
  readonly stableAfterMs: number
  readonly gossipIntervalMs: number
  /** Of leases, by the store. */
  readonly ttlMs: number
}

export type StrategyName = "majority" | "quorum" | "oldest" | "oldest-even-alone" | "all-down"

/** What a scene needs of the settings. Anything goes where nothing is named. */
export interface Needs {
  readonly by?: Terms["by"]
  readonly fewest?: number
  readonly strategies?: readonly StrategyName[]
  /** At least. */
  readonly ttlMs?: number
}

/** Those by which all others survive if one of three or more nodes cannot be reached. */
export const sparing: readonly StrategyName[] = ["majority", "quorum", "oldest"]

const all: readonly StrategyName[] = [...sparing, "oldest-even-alone", "all-down"]

/** How much longer anything may take by a clock that is wrong by a twentieth. */
const DRIFT = 1.06
/** The part of the ttl that observers add to it. */
export const DRIFT_MARGIN = 0.1

export function drawTerms(stage: Stage, needs: Needs): Terms {
  const by = stage.knob("by", needs.by === undefined ? (["seeds", "store"] as const) : [needs.by])
  const { fewest = 2 } = needs
  const nodes = stage.knob(
    "nodes",
    [2, 3, 3, 3, 4, 4, 5, 5, 7, 9].filter((count) => count >= fewest),
  )
  const ttlMs = stage.knob("ttlMs", needs.ttlMs === undefined ? [2_000, 5_000] : [needs.ttlMs])
  const leaseEndsMs = by === "store" ? ttlMs * (1 + DRIFT_MARGIN) : 0
  return {
    by,
    nodes,
    strategy: stage.knob("strategy", needs.strategies ?? all),
    quorum: Math.floor(nodes / 2) + 1,
    stableAfterMs: stage.knob(
      "stableAfterMs",
      [5_000, 6_000, 10_000, 20_000].filter((ms) => ms > leaseEndsMs),
    ),
    gossipIntervalMs: stage.knob("gossipIntervalMs", [200, 500, 1_000]),
    ttlMs,
  }
}

export function strategyOf({ strategy, quorum }: Terms): SplitBrainStrategy {
  switch (strategy) {
    case "majority":
      return keepMajority()
    case "quorum":
      return staticQuorum({ size: quorum })
    case "oldest":
      return keepOldest()
    case "oldest-even-alone":
      return keepOldest({ downIfAlone: false })
    case "all-down":
      return downAll()
  }
}

/** For how long a node is heard that says nothing more, with tombstones of as many nodes as there are. */
export function hearMs({ gossipIntervalMs, nodes }: Terms): number {
  return DRIFT * (3_000 + gossipIntervalMs * (4 + 3 * Math.ceil(Math.log2(2 * (nodes + 2)))))
}

/** Until what one node says has reached all that it can reach. */
export function spreadMs({ gossipIntervalMs, nodes }: Terms): number {
  return DRIFT * gossipIntervalMs * (4 + 2 * Math.ceil(Math.log2(nodes + 2))) + 500
}

/** Until a silent node is unreachable for all, where its observers had time to know it or had not. */
export function silentMs(terms: Terms, wasCalm: boolean): number {
  return DRIFT * (wasCalm ? 6_000 : 12_000) + spreadMs(terms)
}

/** Until each side of a partition has decided, and all of that side know it. */
export function decidedMs(terms: Terms): number {
  const { stableAfterMs, by, ttlMs } = terms
  const noticed = hearMs(terms) + DRIFT * 6_200 + spreadMs(terms)
  const stable = DRIFT * 1.2 * stableAfterMs
  // With a store those that lose leave it to the others to declare them down, for some time.
  return by === "seeds" ? noticed + stable : noticed + 2 * stable + DRIFT * (15_000 + 2 * ttlMs)
}

/** Until a node is up that joins members who agree. */
export function joinedMs(terms: Terms): number {
  return DRIFT * 3_000 + 3 * spreadMs(terms)
}

/**
 * Until those that are left agree after others have stopped: all have seen that they leave, nodes that were
 * joining are up, and those that go have gone.
 */
export function stoppedMs(terms: Terms): number {
  return 2 * joinedMs(terms) + 2 * spreadMs(terms)
}

/**
 * Until all agree again, whatever has happened: dials that hang were given up (11 s), what is unreachable was
 * declared down, twice because a side may have lost it all; who was alone in a cluster that is gone has begun
 * again (30 rounds), and the first seed has found all others out and formed a cluster (10 s).
 */
export function agreedMs(terms: Terms): number {
  const { gossipIntervalMs, ttlMs } = terms
  return (
    DRIFT * (11_000 + 10_000 + 3 * ttlMs + 30 * gossipIntervalMs) + 2 * decidedMs(terms) + 2 * joinedMs(terms)
  )
}

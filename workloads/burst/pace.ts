import type { Stage, StoreService } from "../../src/sim/index.js"

/** What the store of a run is like, how long leases last, and how much nodes are given at once. */
export interface Pace {
  readonly service: StoreService
  readonly ttlMs: number
  readonly nodes: number
  /** One is drawn for each round. */
  readonly loads: readonly Load[]
}

export interface Load {
  /** Actors that do not run yet. */
  readonly first: number
  /** How many of them have a state to save, and how large it is. */
  readonly saves: number
  readonly kib: number
}

/**
 * Most stores put leases first. Some serve a node's requests in the order of arrival: there a renewal waits
 * for what the node has in flight, which is bounded, and must be over within a small part of the ttl. What
 * the node is given would take far longer.
 */
export function drawPace(stage: Stage): Pace {
  const ttlMs = stage.knob("ttlMs", [1_500, 3_000, 5_000])
  const nodes = stage.knob("nodes", [1, 2, 3])
  const loads = nodes === 1 ? forOne : forSeveral
  switch (stage.knob("pace", ["fast", "busy", "slow", "claims in line", "saves in line"] as const)) {
    case "fast":
      return { service: { commitMs: 0.02, kibMs: 0.001 }, ttlMs, nodes, loads }
    case "busy": {
      const commitMs = stage.knob("commitMs", [0.1, 0.5])
      const kibMs = stage.knob("kibMs", [0.02, 0.1, 0.2])
      return { service: { commitMs, kibMs }, ttlMs, nodes, loads }
    }
    // Never so slow that a lease could not be renewed.
    case "slow":
      return {
        service: { delayMs: Math.floor(stage.knob("delay", [0.17, 0.22, 0.26, 0.3]) * ttlMs) },
        ttlMs,
        nodes,
        loads,
      }
    case "claims in line":
      return {
        ...IN_LINE,
        service: { readMs: 0.05, commitMs: 0.5, order: "fifo" },
        loads: [{ first: 3_000, saves: 0, kib: 0 }],
      }
    case "saves in line":
      return {
        ...IN_LINE,
        service: { commitMs: 0.1, kibMs: 0.03, order: "fifo" },
        loads: [{ first: 60, saves: 60, kib: 1_000 }],
      }
  }
}

/** All of it is given to one node. */
const IN_LINE = { ttlMs: 1_500, nodes: 1 } as const

const forOne: readonly Load[] = [
  { first: 1_500, saves: 150, kib: 1 },
  { first: 300, saves: 300, kib: 10 },
  { first: 300, saves: 150, kib: 100 },
]

const forSeveral: readonly Load[] = [
  { first: 600, saves: 300, kib: 1 },
  { first: 150, saves: 150, kib: 10 },
  { first: 150, saves: 150, kib: 100 },
]

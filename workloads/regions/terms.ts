import type { Stage } from "../../src/sim/index.js"

/** The settings that one seed has drawn for all nodes. */
export interface Terms {
  /** How many nodes there are when the scene begins. */
  readonly nodes: number
  readonly shards: number
  readonly entities: number
  readonly handOffMs: number
  /** How long an entity takes for a message, at most. */
  readonly turnMs: number
  /** How long the last turn of an entity may take. */
  readonly lastTurnMs: number
  readonly passivateAfterMs: number | undefined
  /** How often an entity asks to be passivated, of its messages. */
  readonly passivates: number
  readonly gossipIntervalMs: number
  readonly stableAfterMs: number
  readonly drainMs: number
}

export function drawTerms(stage: Stage, needs: Partial<Terms>): Terms {
  const drawn: Terms = {
    nodes: stage.knob("nodes", [2, 3, 3, 4, 5]),
    shards: stage.knob("shards", [4, 10, 16]),
    entities: stage.knob("entities", [8, 20]),
    handOffMs: stage.knob("handOffMs", [2_000, 5_000]),
    turnMs: stage.knob("turnMs", [0, 0, 5, 50]),
    lastTurnMs: stage.knob("lastTurnMs", [0, 20, 500]),
    passivateAfterMs: stage.knob("passivateAfterMs", [undefined, 1_000]),
    passivates: stage.knob("passivates", [0, 0.05]),
    gossipIntervalMs: stage.knob("gossipIntervalMs", [200, 500]),
    stableAfterMs: stage.knob("stableAfterMs", [5_000, 6_000]),
    drainMs: 30_000,
  }
  return { ...drawn, ...needs }
}

/** How much longer anything may take by a clock that is wrong by a twentieth. */
const DRIFT = 1.06

/** Until a node that has died is removed by all others. */
export function removedMs({ gossipIntervalMs, stableAfterMs, nodes }: Terms): number {
  const spread = gossipIntervalMs * (8 + 6 * Math.ceil(Math.log2(nodes + 4)))
  return DRIFT * (12_000 + 3_000 + 1.2 * stableAfterMs + 3 * spread)
}

/** Until all agree on the members again, whatever has happened. See the workload `membership`. */
export function agreedMs(terms: Terms): number {
  return DRIFT * (21_000 + 30 * terms.gossipIntervalMs) + 3 * removedMs(terms)
}

/** Until shards are where they should be, among members that agree: some moves may have failed before. */
export function settledMs({ handOffMs, shards, lastTurnMs }: Terms): number {
  return 2 * handOffMs + Math.ceil(shards / 10) * (2_000 + 2 * lastTurnMs) + 20_000
}

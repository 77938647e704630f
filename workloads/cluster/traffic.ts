import type { PlacementStrategy } from "../../src/index.js"
import type { Stage } from "../../src/sim/index.js"
import { drawPlacement } from "./cluster.js"

/** How performers are called. */
export interface Traffic {
  readonly placement: PlacementStrategy
  /**
   * In the order in which actors may wait for each other: one that calls an earlier one could wait for
   * itself.
   */
  readonly ids: readonly string[]
  /** Those that are called most. */
  readonly hot: readonly string[]
  /** On each node. */
  readonly clients: number
  readonly pauseMs: number
  readonly burst: number
  readonly thinkMs: number
  /** An actor of that life has made a call that nobody waits for. */
  mayStopSoon(life: string): void
}

export function drawTraffic(
  stage: Stage,
  given: Pick<Traffic, "ids" | "hot" | "mayStopSoon"> & { readonly clients: readonly number[] },
): Traffic {
  return {
    ...given,
    placement: drawPlacement(stage),
    clients: stage.knob("clients", given.clients),
    pauseMs: stage.knob("pauseMs", [100, 600]),
    burst: stage.knob("burst", [1, 4, 10]),
    thinkMs: stage.knob("thinkMs", [20, 300]),
  }
}

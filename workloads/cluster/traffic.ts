import type { Stage } from "../../src/sim/index.js"
import type { ActorClass } from "../../src/virtual/actor-class.js"
import { drawPlacement } from "./cluster.js"

/** How performers are called. */
export interface Traffic {
  placementOf(type: string): NonNullable<ActorClass["placement"]>
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
  /** The share of turns and hooks that hang, for longer than anybody waits for them. */
  readonly hanging: number
  /** An actor of that life has made a call that nobody waits for. */
  mayStopSoon(life: string): void
}

export function drawTraffic(
  stage: Stage,
  given: Pick<Traffic, "ids" | "hot" | "mayStopSoon"> & { readonly clients: readonly number[] },
): Traffic {
  const placement = drawPlacement(stage)
  return {
    ...given,
    placementOf: () => placement,
    hanging: 0,
    clients: stage.knob("clients", given.clients),
    pauseMs: stage.knob("pauseMs", [100, 600]),
    burst: stage.knob("burst", [1, 4, 10]),
    thinkMs: stage.knob("thinkMs", [20, 300]),
  }
}

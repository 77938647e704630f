import type { MonotonicMs } from "../ports/clock.js"
import type { PhiTerms } from "./phi-detector.js"
import type { Ring } from "./ring.js"

/** The settings `heartbeat`, checked. */
export interface HeartbeatTerms extends PhiTerms {
  /** Phi from which a node is suspected. */
  readonly threshold: number
  /** How many nodes after it in the ring a node observes. */
  readonly monitored: number
}

export class Heartbeats {
  constructor(_self: string, _terms: HeartbeatTerms) {}

  /** When `tick` is due next. */
  get wakeAt(): MonotonicMs {
    return 0
  }

  /** Sets whom this node observes: the `monitored` nodes after it in the ring. */
  members(_ring: Ring, _now: MonotonicMs): void {}

  /** Returns whom to ping now: nobody before `wakeAt`. */
  tick(_now: MonotonicMs): { readonly ping: readonly string[] } {
    return { ping: [] }
  }

  /** A node has answered a ping. Answers of nodes that are not observed are ignored. */
  answered(_node: string, _now: MonotonicMs): void {}

  /** Returns the observed nodes that are suspected now, sorted. */
  unreachable(_now: MonotonicMs): readonly string[] {
    return []
  }
}

import type { FaultKind, Stage } from "../../src/sim/index.js"
import { storeFaults } from "../fault-sets.js"

/**
 * No node loses its lease, or has to fall silent for want of a renewal, while the store answers it, clocks
 * run and nothing is blocked; whatever it is busy with. Where one of the faults is on that may keep a node
 * from renewing in time, nobody is judged.
 */
export function neverFencedInVain(stage: Stage): void {
  const isQuiet = threatsToLeases.every((kind) => stage.faults[kind] === 0)
  stage.invariant<Fenced | DoorsSeen>("NoNeedlessFence", (event) => {
    if (!isQuiet) return false
    if (event.kind === "fenced") return `${event.node} is fenced: ${event.because}`
    if (event.kind !== "doors") return false
    return event.areOpen ? undefined : `the doors of ${event.node} are shut`
  })
}

/** A node has lost its lease. */
export interface Fenced {
  readonly kind: "fenced"
  readonly node: string
  readonly because: string
}

/** Somebody has looked whether a node that has joined may act. */
export interface DoorsSeen {
  readonly kind: "doors"
  readonly node: string
  readonly areOpen: boolean
}

/** Whatever stops a process or a clock, or comes between a node and its store. Watches may lag. */
const threatsToLeases: readonly FaultKind[] = [
  "pause",
  "pause-in-call",
  "long-pause",
  "loop-stall",
  "thread-stall",
  "suspend",
  "clock-jump",
  "slow-network",
  ...storeFaults.filter((kind) => kind !== "store-lag"),
]

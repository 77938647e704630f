import type { LeadsTo } from "../explorer/leads-to.js"
import { isActing, type World } from "./world.js"

/**
 * Liveness: what eventually happens, provided that the store answers the requests that are awaited, nodes
 * take their own steps, and a shard that nobody has is asked for, so that nodes claim it. Faults happen as
 * often as the setting allows, which is finitely often.
 *
 * Two things are not assumed to be fair: the arrival of requests that nobody awaits, and that of notices.
 */
export const PROGRESS: Readonly<Record<Progress, LeadsTo<World>>> = {
  "a node has the shard": becomes(({ nodes }) =>
    nodes.some(({ phase, home }) => phase === "member" && isActing(home)),
  ),
  "no entity hangs": becomes(({ nodes }) =>
    nodes.every(({ entities }) => Object.values(entities).every(({ stage }) => stage !== "hung")),
  ),
}

export type Progress = "a node has the shard" | "no entity hangs"

/** Wherever the goal does not hold, it eventually will. */
function becomes(goal: (world: World) => boolean): LeadsTo<World> {
  return {
    premise: (world) => !goal(world),
    goal,
    fair: [],
    fairLabelsOf: [
      ...["Arrive", "Answer", "Claim", "ReadShard", "ReadNode", "ReadToAdopt", "ReadMoved", "Drained"],
      ...["Late", "Renew", "SavesDecided", "ClaimLater", "Write", "ReadBack", "Settle", "RecordGone", "Join"],
    ],
  }
}

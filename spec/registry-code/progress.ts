import { placementSeen } from "../../src/registry/commits.js"
import type { LeadsTo } from "../explorer/leads-to.js"
import { entryAt } from "./model-store.js"
import { isRunning, PLACEMENT, type World } from "./world.js"

/**
 * Liveness: what eventually happens, provided that the store answers the requests that are awaited, time
 * passes, and processes take their own steps. Faults happen as often as the setting allows, which is finitely
 * often.
 *
 * Two things are not assumed to be fair: the arrival of requests that nobody awaits, and what the store's
 * watch says of a node's own record.
 */
export const PROGRESS: Readonly<Record<Progress, LeadsTo<World>>> = {
  "no actor that nobody may claim": becomes(isClaimable),
  "no lease that nobody may end": becomes((world) => nodesIn(world).every((node) => isRunning(world, node))),
  "no lease of a node that is down": becomes(
    ({ store }) => !store.some(({ value }) => value.includes('"down"')),
  ),
  "a comes back": becomes((world) => isUp(world, 0)),
  "b comes back": becomes((world) => isUp(world, 1)),
  "a call ends": becomes(({ caller }) => caller?.call === undefined),
  "the actor runs": becomes(({ processes }) =>
    processes.some(({ activation }) => activation?.stage === "running"),
  ),
}

export type Progress =
  | "no actor that nobody may claim"
  | "no lease that nobody may end"
  | "no lease of a node that is down"
  | "a comes back"
  | "b comes back"
  | "a call ends"
  | "the actor runs"

/** Wherever the goal does not hold, it eventually will. */
function becomes(goal: (world: World) => boolean): LeadsTo<World> {
  return { premise: (world) => !goal(world), goal, ...fairness() }
}

function fairness(): Pick<LeadsTo<World>, "fair" | "fairLabelsOf"> {
  return {
    fair: ["Tick"],
    fairLabelsOf: [
      ...["Arrive", "Answer", "LookAtLease", "LookAtRecord", "End", "Start", "Wake", "Knock", "Settle"],
      ...["Claim", "ReadPlacement", "ReadNode", "Load", "Write", "ReadBack", "Prove"],
      ...[
        "Resolve",
        "NotResolved",
        "Retry",
        "Deliver",
        "Bounce",
        "NodeGone",
        "Handle",
        "Redirect",
        "NotHere",
      ],
      ...["Refuse", "Reply", "ReplyUnknown"],
    ],
  }
}

/** Nothing is placed, its node is gone, or its node runs and may claim the actor again. */
function isClaimable(world: World): boolean {
  const placed = placementSeen(entryAt(world, PLACEMENT))
  return placed === undefined || !nodesIn(world).includes(placed.node) || isRunning(world, placed.node)
}

/** The nodes that have a record or a lease. */
function nodesIn({ store }: World): string[] {
  return store
    .filter(({ key }) => key.startsWith("nodes/") || key.startsWith("leases/"))
    .map(({ key }) => key.slice(key.indexOf("/") + 1))
}

function isUp({ processes }: World, at: number): boolean {
  const state = processes[at]?.lease?.state.kind
  return processes[at]?.isUp === true && (state === "held" || state === "leaving")
}

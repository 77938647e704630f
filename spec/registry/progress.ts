import type { LeadsTo } from "../explorer/leads-to.js"
import { entryOf, NOBODY, type NodeId, processOf, type World } from "./world.js"

/**
 * What has to happen sooner or later, if the store answers, time passes, and processes do what is theirs to do. Faults may happen,
 * as often as the setting allows and not for ever.
 */
export const PROGRESS: Readonly<Record<Progress, LeadsTo<World>>> = {
  "no actor that nobody may claim": becomes(isClaimable),
  "no lease that nobody may end": becomes((world) => !hasOrphan(world)),
  "no lease of a node that is down": becomes(({ nodes }) => nodes.every(({ record }) => record !== "down")),
  "a comes back": becomes(({ processes }) => processes[0]?.phase === "up"),
  "b comes back": becomes(({ processes }) => processes[1]?.phase === "up"),
  "the actor runs": becomes(({ processes }) =>
    processes.some(({ activation }) => activation.stage === "running"),
  ),
  "a call ends": becomes(({ call }) => call.stage === "none"),
  "caches are corrected": becomes(areCachesRight),
}

export type Progress =
  | "no actor that nobody may claim"
  | "no lease that nobody may end"
  | "no lease of a node that is down"
  | "a comes back"
  | "b comes back"
  | "the actor runs"
  | "a call ends"
  | "caches are corrected"

/** Wherever it does not hold, it will some day. */
function becomes(goal: (world: World) => boolean): LeadsTo<World> {
  return { premise: (world) => !goal(world), goal, ...fairness() }
}

function fairness(): Pick<LeadsTo<World>, "fair" | "fairLabelsOf"> {
  return {
    fair: ["Tick"],
    fairLabelsOf: [
      ...["Arrive", "Answer", "See", "End", "Start", "Fence", "ReadOwn", "Renew", "GiveUp"],
      ...["Claim", "Load", "Save", "Resend", "ReadBack", "Release"],
      ...["Watch", "Resolve", "Deliver", "Bounce", "Handle", "Redirect", "Follow", "Reply", "ReplyUnknown"],
    ],
  }
}

/** By somebody: nothing stands there, its node is gone, or its node lives and may claim it again. */
function isClaimable(world: World): boolean {
  const { at } = world.placement
  return at === NOBODY || entryOf(world, at) === undefined || isLiving(world, at)
}

function hasOrphan(world: World): boolean {
  return world.nodes.some(({ id }) => !isLiving(world, id))
}

function isLiving({ processes }: World, id: NodeId): boolean {
  return processes[processOf(id)]?.id === id
}

function areCachesRight({ processes, placement }: World): boolean {
  return processes.every(({ phase, cache }) => phase === "off" || cache.rev === placement.rev)
}

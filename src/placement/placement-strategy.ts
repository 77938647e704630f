import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { Random } from "../ports/random.js"
import type { Candidate } from "./topology.js"

/**
 * Names the node that is to host an actor that is nowhere yet: one of the candidates, of which there is at least one. A wish and
 * not a lock: nodes that know different candidates may name different ones, and the store lets one of them have it.
 */
export type PlacementStrategy = (
  id: ActorId,
  candidates: readonly Candidate[],
  context: PlacementContext,
) => NodeId

export interface PlacementContext {
  /** The node that decides; it may be no candidate. */
  readonly self: NodeId
  readonly random: Pick<Random, "uint32">
  /** How many actors the candidate runs, those that this node has lately sent its way included. */
  load(candidate: Candidate): number
}

import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { Random } from "../ports/random.js"
import type { Candidate } from "./placement-protocol.js"
import { rendezvous } from "./rendezvous.js"

/**
 * Names the node that gets an actor that is nowhere yet: one of the candidates, of which there is at least
 * one. It is a preference and not a lock: nodes that know different candidates may name different ones, and
 * the store lets one of them have the actor.
 */
export type PlacementStrategy = (
  id: ActorId,
  candidates: readonly Candidate[],
  context: PlacementContext,
) => NodeId

export interface PlacementContext {
  /** The node that decides; it need not be a candidate. */
  readonly self: NodeId
  readonly random: Pick<Random, "uint32">
  /** How many actors the candidate runs, including those that this node has lately placed there. */
  load(candidate: Candidate): number
}

/** This node, if it hosts the type: for actors that are mostly called from where they are called first. */
export const preferLocal: PlacementStrategy = (id, candidates, { self }) =>
  candidates.find(({ node }) => node.equals(self))?.node ?? rendezvous(id, candidates)

/** Any candidate, each with the same chance. */
export const random: PlacementStrategy = (_id, candidates, context) =>
  itemAt(candidates, draw(candidates.length, context.random)).node

/**
 * The less loaded of two candidates drawn at random. A node that always took the least loaded of all, by
 * figures that are a second old, would send everything to one node in that second, and so would all others;
 * two at random is nearly as even and has no such herd.
 */
export const leastLoadedOfTwo: PlacementStrategy = (_id, candidates, context) => {
  const one = draw(candidates.length, context.random)
  if (candidates.length === 1) return itemAt(candidates, one).node
  const step = 1 + draw(candidates.length - 1, context.random)
  const first = itemAt(candidates, one)
  const second = itemAt(candidates, (one + step) % candidates.length)
  return context.load(second) < context.load(first) ? second.node : first.node
}

/** From 0 to `count - 1`. */
function draw(count: number, random: Pick<Random, "uint32">): number {
  return Math.floor((random.uint32() / 2 ** 32) * count)
}

function itemAt<T>(items: readonly T[], at: number): T {
  const item = items[at]
  if (item === undefined) throw new RangeError("there is no candidate to choose from")
  return item
}

import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { Random } from "../ports/random.js"
import type { Candidate } from "./placement-protocol.js"
import { rendezvous } from "./rendezvous.js"

/**
 * Chooses the node for an actor that has no placement yet, from at least one candidate. The choice is a
 * preference and not a lock: nodes that know different candidates may choose different ones, and the store
 * lets one of them claim the actor.
 */
export type PlacementStrategy = (
  id: ActorId,
  candidates: readonly Candidate[],
  context: PlacementContext,
) => NodeId

/** What a placement strategy may use besides the candidates. */
export interface PlacementContext {
  /** The node that chooses; it need not be a candidate. */
  readonly self: NodeId
  /** The source of random numbers, in place of `Math.random`. */
  readonly random: Pick<Random, "uint32">
  /** Returns how many actors the candidate runs, including those that this node has recently placed there. */
  load(candidate: Candidate): number
}

/** Chooses this node if it hosts the type: for actors that are mostly called from where they were started. */
export const preferLocal: PlacementStrategy = (id, candidates, { self }) =>
  candidates.find(({ node }) => node.equals(self))?.node ?? rendezvous(id, candidates)

/** Chooses each candidate with the same probability. */
export const random: PlacementStrategy = (_id, candidates, context) =>
  itemAt(candidates, draw(candidates.length, context.random)).node

/**
 * Chooses the less loaded of two candidates drawn at random. If nodes chose the least loaded of all, by loads
 * that are up to a second old, all of them would place every new actor of that second on the same node. Two
 * random choices are nearly as even without this herd effect.
 */
export const leastLoadedOfTwo: PlacementStrategy = (_id, candidates, context) => {
  const one = draw(candidates.length, context.random)
  if (candidates.length === 1) return itemAt(candidates, one).node
  const step = 1 + draw(candidates.length - 1, context.random)
  const first = itemAt(candidates, one)
  const second = itemAt(candidates, (one + step) % candidates.length)
  return context.load(second) < context.load(first) ? second.node : first.node
}

/** Returns a random integer from 0 to `count - 1`. */
function draw(count: number, random: Pick<Random, "uint32">): number {
  return Math.floor((random.uint32() / 2 ** 32) * count)
}

function itemAt<T>(items: readonly T[], at: number): T {
  const item = items[at]
  if (item === undefined) throw new RangeError("candidates must not be empty")
  return item
}

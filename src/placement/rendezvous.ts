import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { Candidate } from "./placement-protocol.js"
import { type Hash64, mixed, stableHash } from "./stable-hash.js"

/**
 * Names the candidate with the highest score for the actor, a hash of the two.
 *
 * Nodes that know the same candidates name the same one without communicating. When a node leaves, each of
 * its actors has a next best candidate of its own, so its share is spread over all others and no other actor
 * moves; when one joins, it takes an even share from each. Consistent hashing on a ring does this too and
 * finds the node in fewer steps, but is even only with hundreds of points for each node, and the ring has to
 * be rebuilt at each change. A cluster has few enough nodes to score them all.
 */
export function rendezvous(id: ActorId, candidates: readonly Candidate[]): NodeId {
  const { high, low } = stableHash(id.toString())
  let best: Candidate | undefined
  let bestScore: Hash64 = LOWEST
  for (const candidate of candidates) {
    const node = nodeHash(candidate.node)
    const score = mixed(high ^ node.high, low ^ node.low)
    if (best === undefined || isHigher(score, bestScore)) {
      best = candidate
      bestScore = score
    }
  }
  if (best === undefined) throw new RangeError("there is no candidate to choose from")
  return best.node
}

const LOWEST: Hash64 = { high: -(2 ** 31), low: -(2 ** 31) }

function isHigher(score: Hash64, than: Hash64): boolean {
  return score.high > than.high || (score.high === than.high && score.low > than.low)
}

/** Hashes are reused for every actor; that of a node that has left is collected with its `NodeId`. */
const hashes = new WeakMap<NodeId, Hash64>()

function nodeHash(node: NodeId): Hash64 {
  let hash = hashes.get(node)
  if (hash === undefined) {
    hash = stableHash(node.toString())
    hashes.set(node, hash)
  }
  return hash
}

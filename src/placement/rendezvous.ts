import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import { type Hash64, mix, stableHash } from "../address/stable-hash.js"
import type { Candidate } from "./placement-protocol.js"

/**
 * Returns the candidate with the highest score for the actor; the score is a hash of the two.
 *
 * Nodes that know the same candidates choose the same one without communicating. When a node leaves, each of
 * its actors has its own second-best candidate, so they are spread over all other nodes and no other actor
 * moves; when a node joins, it takes an even share from each. Consistent hashing on a ring has the same
 * properties and finds the node in fewer steps, but it is even only with hundreds of points for each node,
 * and the ring has to be rebuilt at each change. A cluster has few enough nodes to score them all.
 */
export function rendezvous(id: ActorId, candidates: readonly Candidate[]): NodeId {
  const [first] = candidates
  if (first !== undefined && candidates.length === 1) return first.node
  const { high, low } = stableHash(id.toString())
  let best: Candidate | undefined
  let bestScore: Hash64 = LOWEST
  for (const candidate of candidates) {
    const node = nodeHash(candidate.node)
    const score = mix(high ^ node.high, low ^ node.low)
    if (best === undefined || isHigher(score, bestScore)) {
      best = candidate
      bestScore = score
    }
  }
  if (best === undefined) throw new RangeError("candidates must not be empty")
  return best.node
}

const LOWEST: Hash64 = { high: -(2 ** 31), low: -(2 ** 31) }

function isHigher(score: Hash64, than: Hash64): boolean {
  return score.high > than.high || (score.high === than.high && score.low > than.low)
}

/** The hashes of nodes, reused for every actor; an entry is garbage-collected with its `NodeId`. */
const hashes = new WeakMap<NodeId, Hash64>()

function nodeHash(node: NodeId): Hash64 {
  let hash = hashes.get(node)
  if (hash === undefined) {
    hash = stableHash(node.toString())
    hashes.set(node, hash)
  }
  return hash
}

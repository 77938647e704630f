import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import { type Hash64, mixed, stableHash } from "./stable-hash.js"
import type { Candidate } from "./topology.js"

/**
 * Names for an actor the candidate with which it has the highest score: a hash of the two.
 *
 * All who know the same candidates name the same one, without a word to each other. When a node goes, each of its actors has
 * a next best candidate of its own, so its share is spread over all the others and nobody else's actors move; when one comes, it takes
 * an even share from each. A ring of hashes does this too and finds the node in fewer steps, but is even only with hundreds of points for each
 * node, and has to be built anew at each change. A cluster has few enough nodes to ask them all.
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

/** They are asked for again and again; the object of a node that is gone takes its hash along. */
const hashes = new WeakMap<NodeId, Hash64>()

function nodeHash(node: NodeId): Hash64 {
  let hash = hashes.get(node)
  if (hash === undefined) {
    hash = stableHash(node.toString())
    hashes.set(node, hash)
  }
  return hash
}

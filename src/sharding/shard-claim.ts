import type { ClusterStore } from "../ports/store.js"
import type { ClaimEvent } from "../registry/claim.js"
import { type ShardGuess, shardClaimAnswered, shardClaimCommit } from "../registry/commits.js"
import type { Incarnation } from "../registry/incarnation.js"

/**
 * Claims shards that nobody has in one commit. Returns what came of each; undefined if that is not known, or
 * this node may claim nothing.
 */
export async function claimTogether(
  shards: readonly ShardGuess[],
  incarnation: Incarnation,
  store: ClusterStore,
): Promise<readonly ClaimEvent[] | undefined> {
  const { epoch, node, windows, troubles } = incarnation
  await windows.placements.enter()
  try {
    const { record } = incarnation
    if (record === undefined || !incarnation.mayClaim()) return undefined
    const claimer = { node: node.toString(), record }
    const result = await store.commit({ epoch, ...shardClaimCommit(claimer, shards) })
    if (result.kind !== "epoch-changed") return shardClaimAnswered(claimer.node, shards, result)
    incarnation.epochChanged()
  } catch (error) {
    // If it was committed after all, the watch shows that, and the shards are adopted.
    troubles.note("claim shards", error)
  } finally {
    windows.placements.leave()
  }
  return undefined
}

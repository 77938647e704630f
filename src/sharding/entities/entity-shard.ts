import { stableHash } from "../../address/stable-hash.js"

/**
 * Returns the shard of an entity: the remainder of the 64-bit hash of its id. All nodes of all versions must
 * compute the same, so the hash and this rule are pinned by vectors.
 */
export function shardOf(entityId: string, shardCount: number): number {
  const { high, low } = stableHash(entityId)
  // Every step stays below 2^53, as counts are at most 2^16.
  return (((high >>> 0) % shardCount) * (TWO_32 % shardCount) + (low >>> 0)) % shardCount
}

const TWO_32 = 2 ** 32

import type { ShardedPlacement } from "../placement/sharded.js"
import type { ShardGroup } from "./shard-group.js"

// `shardBy` is user code, and keys may come from anybody.

/** The shard of the actor with this key; undefined if `shardBy` fails for it. */
function shardOfKey(placement: ShardedPlacement, key: string): number | undefined {
  try {
    return placement.shardOf(key)
  } catch {
    return undefined
  }
}

/** Why an actor with this key has no shard; undefined if it has one. */
export function keyProblem(placement: ShardedPlacement, key: string): Error | undefined {
  try {
    placement.shardOf(key)
    return undefined
  } catch (error) {
    const detail = error instanceof Error ? error.message : "it threw a value that is not an error"
    return new TypeError(`shardBy failed for the key ${JSON.stringify(key)}: ${detail}`)
  }
}

/** A type of actors, with the group that has its shards. */
export interface ShardedType {
  readonly group: ShardGroup
  readonly placement: ShardedPlacement
}

/** The shard is undefined for a key that has none. */
export function shardIn({ group, placement }: ShardedType, key: string) {
  return { group, shard: shardOfKey(placement, key) }
}

import type { ShardedPlacement } from "../placement/sharded.js"

// `shardBy` is user code, and keys may come from anybody.

/** The shard of the actor with this key; undefined if `shardBy` fails for it. */
export function shardOfKey(placement: ShardedPlacement, key: string): number | undefined {
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

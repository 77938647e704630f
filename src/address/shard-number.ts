import { stableHash } from "./stable-hash.js"

/** The number of the shard of a text: its stable hash, as an unsigned integer, modulo `count`. */
export function shardNumber(text: string, count: number): number {
  const { high, low } = stableHash(text)
  // The product is an exact integer for every count up to `MAX_SHARDS`.
  return (((high >>> 0) % count) * (TWO_32 % count) + ((low >>> 0) % count)) % count
}

const TWO_32 = 2 ** 32

/** The highest number of shards. */
export const MAX_SHARDS = 65_536

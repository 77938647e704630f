// The keys of shards. They do not contain the namespace, for which the store was opened.

export const SHARDS = "shards/"

export function shardKey(group: string, shard: number): string {
  return `${SHARDS}${group}/${shard}`
}

/** Undefined for a key that is not that of a shard. */
export function parseShardKey(key: string): { readonly group: string; readonly shard: number } | undefined {
  const found = /^shards\/([\w.-]+)\/(0|[1-9]\d*)$/.exec(key)
  return found === null ? undefined : { group: found[1] as string, shard: Number(found[2]) }
}

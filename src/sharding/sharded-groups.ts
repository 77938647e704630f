import { SettingsError } from "../errors/settings-error.js"
import type { ShardedPlacement } from "../placement/sharded.js"
import type { ActorType } from "../virtual/actor-type.js"

/** The types that share the shards of a group. */
export interface ShardedGroup {
  /** The number of shards. */
  readonly count: number
  readonly types: ReadonlyMap<string, ShardedPlacement>
}

/** The groups of the sharded types, by name. Throws a `SettingsError` if types of one group do not agree. */
export function shardedGroups(types: Iterable<ActorType>): ReadonlyMap<string, ShardedGroup> {
  const groups = new Map<string, { count: number; types: Map<string, ShardedPlacement> }>()
  for (const { name: type, sharding } of types) {
    if (sharding === undefined) continue
    const name = sharding.group ?? type
    const group = groups.get(name)
    if (group === undefined) {
      groups.set(name, { count: sharding.shards, types: new Map([[type, sharding]]) })
      continue
    }
    if (group.count !== sharding.shards) {
      const [other] = group.types.keys()
      throw new SettingsError(
        "actors",
        `${type}.placement must have as many shards as ${other}, which is in the same group ${name} (got ${sharding.shards} and ${group.count})`,
      )
    }
    group.types.set(type, sharding)
  }
  return groups
}

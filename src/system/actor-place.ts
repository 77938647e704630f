import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import { ShardedPlacement } from "../placement/sharded.js"
import type { ClusterStore, Revision } from "../ports/store.js"
import { placementSeen } from "../registry/commits.js"
import { nodeKey } from "../registry/node-record.js"
import { placementKey } from "../registry/registry-keys.js"
import { parsedNode } from "../registry/roster.js"
import { type GroupOfType, groupOf } from "../sharding/group-record.js"
import { shardKey } from "../sharding/shard-keys.js"
import type { ActorType } from "../virtual/actor-type.js"

/** Where an actor is. */
export interface ActorPlace {
  /** The node that has claimed the actor, or its shard. */
  readonly node: NodeId
  /** The generation of its activation, or of its shard: the fencing token of what it writes. */
  readonly generation: number
}

/**
 * Reads where an actor is, as of one moment between the call and the answer. A node may be gone while its
 * placements are still there, so its record is read after the placement. If it is there, it was there before,
 * as no node has the same id again; if not, the placement is read again, as another node may have claimed the
 * actor meanwhile: a placement that is the same is one that nobody serves.
 */
export async function placeOf(store: ClusterStore, key: string): Promise<ActorPlace | undefined> {
  let gone: Revision | undefined
  for (;;) {
    const placed = placementSeen((await store.get(key)).entry)
    if (placed === undefined || placed.generation === gone) return undefined
    const { entry: record } = await store.get(nodeKey(placed.node))
    if (record === undefined) {
      gone = placed.generation
      continue
    }
    const node = parsedNode(placed.node)
    if (node !== undefined) return { node, generation: placed.generation }
    throw new StoreUnavailableError(`${key} names a node that this version cannot read`, "not-committed")
  }
}

/** The key of the record that says where an actor is: its placement, or the record of its shard. */
export function recordKeyOf(id: ActorId, sharding: ShardedPlacement | undefined): string {
  if (sharding === undefined) return placementKey(id)
  return shardKey(sharding.group ?? id.type, sharding.shardOf(id.key))
}

/**
 * How the actors of a type are divided into shards; undefined if each has a placement of its own. A node that
 * does not host the type learns it from the store. Rejects with a `TypeError` if only another node knows.
 */
export async function shardingOf(
  store: ClusterStore,
  { type }: Pick<ActorId, "type">,
  { hosted, given }: { readonly hosted: ActorType | undefined; readonly given: ActorType | undefined },
): Promise<ShardedPlacement | undefined> {
  if (hosted !== undefined) return hosted.sharding
  const group = await groupOf(store, type)
  return group && shardingIn(group, type, given)
}

function shardingIn(
  { name, count, sample }: GroupOfType,
  type: string,
  given: ActorType | undefined,
): ShardedPlacement {
  const sharding = given?.sharding ?? new ShardedPlacement({ group: name, shards: count })
  const isSame = (sharding.group ?? type) === name && sharding.shards === count
  if (isSame && sharding.sample === sample) return sharding
  throw new TypeError(
    `only the class of ${type} that its hosts have says in which shard an actor is; pass that class`,
  )
}

import { type ActorId, ShardMoveAbandoned, ShardMoved } from "../../src/index.js"
import type { Directory } from "../../src/placement/directory.js"
import { revisionOf } from "../../src/registry/placement-cache.js"
import { shardKey } from "../../src/sharding/shard-keys.js"
import type { Life } from "../../src/sim/index.js"
import type { Cluster } from "../cluster/cluster.js"
import type { Host } from "../cluster/host.js"

/** Records what one system believes of shards, and what it says of their moves. */
export function tapShards(life: Life, { node }: Host, cluster: Cluster): void {
  const { events } = node.system
  events.subscribe(ShardMoved, ({ group, shard, target, generation }) => {
    const record = shardKey(group, shard)
    life.record({ kind: "shard-moved", who: node.name, record, target: `${target}`, generation })
    life.sometimes("a shard is moved")
  })
  events.subscribe(ShardMoveAbandoned, () => life.sometimes("a move is abandoned"))
  const directory = directoryOf(node)
  if (directory === undefined) return
  const last = new Map<string, number>()
  const { cached } = directory
  directory.cached = (id: ActorId) => {
    const where = cached.call(directory, id)
    const record = cluster.recordOf(id.name)
    const revision = where === undefined ? 0 : revisionOf(where)
    if (last.get(record) !== revision) {
      last.set(record, revision)
      const { epoch } = directory
      life.record({ kind: "mapped", who: node.name, record, epoch, revision })
    }
    return where
  }
}

/** One directory has all sharded types of a node. */
export function directoryOf(node: Host["node"]): Directory | undefined {
  return node.actors.host.directories.get("plain")
}

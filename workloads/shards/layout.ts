import { type ShardedPlacement, sharded } from "../../src/index.js"
import { shardKey } from "../../src/sharding/shard-keys.js"
import { isRare } from "../cluster/performers.js"

/**
 * How the actors of a run are divided: all types that every node hosts share one group, so that actors with
 * the same key are neighbours in a shard. The types that few nodes host are a group each.
 */
export class Layout {
  /** Of every group. */
  readonly count: number
  readonly #placements = new Map<string, ShardedPlacement>()

  constructor(count: number) {
    this.count = count
  }

  groupOf(type: string): string {
    return isRare(`${type}/`) ? type : CROWD
  }

  readonly placementOf = (type: string): ShardedPlacement => {
    const known = this.#placements.get(type)
    if (known !== undefined) return known
    const placement = sharded({ shards: this.count, group: this.groupOf(type) })
    this.#placements.set(type, placement)
    return placement
  }

  readonly recordOf = (id: string): string => {
    const [type = "", key = ""] = id.split("/")
    return shardKey(this.groupOf(type), this.placementOf(type).shardOf(key))
  }
}

/** The group of the types that every node hosts. */
export const CROWD = "crowd"

/** The shards of a type of entities and the nodes that may host them, as the coordinator knows them. */
export interface ShardSituation {
  /** The number of shards. */
  readonly shardCount: number
  /** The home of each shard that has one, by the text of its node id. */
  readonly homes: ReadonlyMap<number, string>
  /** The nodes that may host shards, by the texts of their ids, sorted. There is at least one. */
  readonly nodes: readonly string[]
}

/** Decides where shards are. It is asked on the node of the coordinator, and must not wait for anything. */
export interface ShardAllocation {
  /** Returns the node for a shard that has no home: one of `situation.nodes`. */
  allocate(shard: number, situation: ShardSituation): string
  /**
   * Returns the shards that should move now, with the nodes that they should move to. It is asked again once
   * all of them have moved.
   */
  rebalance(situation: ShardSituation): ReadonlyMap<number, string>
}

/** Options of `leastShards`. */
export interface LeastShardsOptions {
  /** By how many shards two nodes may differ before shards move. Default 1. */
  readonly threshold?: number
  /** How many shards move at a time. Default 10. */
  readonly limit?: number
}

/** Gives a shard to the node that has the fewest, and moves shards there from the node with the most. */
export function leastShards({ threshold = 1, limit = 10 }: LeastShardsOptions = {}): ShardAllocation {
  for (const [name, value] of Object.entries({ threshold, limit })) {
    if (!(Number.isInteger(value) && value > 0))
      throw new RangeError(`leastShards: ${name} must be a positive integer (got ${value})`)
  }
  return {
    allocate: (_shard, situation) => fewest(countsOf(situation)),
    rebalance(situation) {
      const moves = new Map<number, string>()
      const counts = countsOf(situation)
      const homes = new Map([...situation.homes].sort(([a], [b]) => a - b))
      while (moves.size < limit) {
        const to = fewest(counts)
        const from = most(counts)
        if ((counts.get(from) as number) - (counts.get(to) as number) <= threshold) break
        const moved = [...homes].find(([, home]) => home === from)?.[0] as number
        homes.delete(moved)
        moves.set(moved, to)
        counts.set(from, (counts.get(from) as number) - 1)
        counts.set(to, (counts.get(to) as number) + 1)
      }
      return moves
    },
  }
}

function countsOf({ nodes, homes }: ShardSituation): Map<string, number> {
  const counts = new Map(nodes.map((node) => [node, 0]))
  for (const home of homes.values()) {
    const count = counts.get(home)
    if (count !== undefined) counts.set(home, count + 1)
  }
  return counts
}

function fewest(counts: ReadonlyMap<string, number>): string {
  return [...counts].reduce((best, each) => (each[1] < best[1] ? each : best))[0]
}

function most(counts: ReadonlyMap<string, number>): string {
  return [...counts].reduce((best, each) => (each[1] > best[1] ? each : best))[0]
}

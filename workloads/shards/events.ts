/** What happens to shards, as far as invariants care. */
export type ShardEvent = Mapped | ShardWasMoved

/** What the map of a system says of a shard, whenever that has changed. */
export interface Mapped {
  readonly kind: "mapped"
  readonly who: string
  /** The key of its record. */
  readonly record: string
  readonly epoch: string
  readonly revision: number
}

/** A system says that it has moved a shard. */
export interface ShardWasMoved {
  readonly kind: "shard-moved"
  readonly who: string
  readonly record: string
  readonly target: string
  readonly generation: number
}

import type { NodeId } from "../../address/node-id.js"

/** This node has become the home of a shard. */
export class ShardStarted {
  /** The type of the entities. */
  readonly typeKey: string
  /** The number of the shard. */
  readonly shard: number

  constructor(typeKey: string, shard: number) {
    this.typeKey = typeKey
    this.shard = shard
  }
}

/** This node is no longer the home of a shard, and none of its entities runs here. */
export class ShardStopped {
  /** The type of the entities. */
  readonly typeKey: string
  /** The number of the shard. */
  readonly shard: number

  constructor(typeKey: string, shard: number) {
    this.typeKey = typeKey
    this.shard = shard
  }
}

/** The handoff of a shard took too long, so the shard stays where it is. The coordinator publishes it. */
export class ShardHandOffAbandoned {
  /** The type of the entities. */
  readonly typeKey: string
  /** The number of the shard. */
  readonly shard: number
  /** The home of the shard. */
  readonly from: NodeId
  /** The node that was to become its home. */
  readonly to: NodeId

  constructor(typeKey: string, shard: number, from: NodeId, to: NodeId) {
    this.typeKey = typeKey
    this.shard = shard
    this.from = from
    this.to = to
  }
}

/**
 * The buffer of a region is full: asks fail with an `OverloadedError`, and other messages go to dead letters.
 * Published for the first message, and again only after the buffer was half empty.
 */
export class ShardBufferOverflowed {
  /** The type of the entities. */
  readonly typeKey: string
  /** The shard of the first message that was refused. */
  readonly shard: number
  /** How many messages the buffer can hold. */
  readonly capacity: number

  constructor(typeKey: string, shard: number, capacity: number) {
    this.typeKey = typeKey
    this.shard = shard
    this.capacity = capacity
  }
}

/**
 * Published when the system stops although entities of this node have not ended within `drainMs`. They save
 * nothing from then on. Their shards start elsewhere once the cluster has declared this node down, and not
 * before: an entity that is left may run until the process has ended.
 */
export class EntitiesLeftBehind {
  /** The type of the entities. */
  readonly typeKey: string
  /** The shards that could not be handed off. */
  readonly shards: readonly number[]
  /** The number of entities that have not ended. */
  readonly count: number
  /** The ids of some of them, at most 20. */
  readonly sample: readonly string[]

  constructor(
    typeKey: string,
    left: { readonly shards: readonly number[]; readonly count: number; readonly sample: readonly string[] },
  ) {
    this.typeKey = typeKey
    this.shards = left.shards
    this.count = left.count
    this.sample = left.sample
  }
}

/** The function that creates an entity, or one of the functions that keep its state or its id, has failed. */
export class EntityHookFailed {
  /** The type of the entity. */
  readonly typeKey: string
  /** The id of the entity; empty for `list`. */
  readonly entityId: string
  /** The function. */
  readonly hook: "entity" | "load" | "save" | "add" | "remove" | "list"
  /** What it threw. */
  readonly error: unknown

  constructor(typeKey: string, entityId: string, hook: EntityHookFailed["hook"], error: unknown) {
    this.typeKey = typeKey
    this.entityId = entityId
    this.hook = hook
    this.error = error
  }
}

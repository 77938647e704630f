import type { ActorRef } from "../../actor/actor-ref.js"
import type { Behavior, MaybePromise } from "../../actor/behavior.js"
import type { NodeId } from "../../address/node-id.js"
import type { ShardAllocation } from "./allocation.js"

/** Entities that are spread over the nodes of a cluster by their ids. */
export interface Sharding {
  /**
   * Begins to host entities of a type that the setting `shards` names, and returns the region by which they
   * are reached. It should be called right after the start, and once for each type. Throws a `SettingsError`
   * if an option is invalid.
   */
  init<M, S = undefined>(options: EntityOptions<M, S>): ShardRegion<M>
}

/** A type of entities. */
export interface EntityOptions<M, S = undefined> {
  /** The name of the type, the same on all nodes. */
  readonly typeKey: string
  /**
   * Creates the behavior of an entity when it starts. The `PostStop` signal is its last turn before it moves
   * or is passivated.
   */
  readonly entity: (entity: EntityContext<M, S>) => Behavior<M>
  /** The number of shards, which must be that of the setting `shards`. Default: that one. */
  readonly shardCount?: number
  /** How long an entity may get no message before it is passivated. Default: entities stay. */
  readonly passivateAfterMs?: number
  /** Where shards are. The options of the leader apply. Default `leastShards()`. */
  readonly allocation?: ShardAllocation
  /**
   * How long the handoff of a shard may take before it is abandoned, and the shard stays where it is. The
   * options of the leader apply. Default 10,000.
   */
  readonly handOffMs?: number
  /**
   * How many messages may wait on this node while their shards have no home, and how many while their
   * entities start or end. Default 10,000.
   */
  readonly bufferCapacity?: number
  /** The capacity of the mailbox of an entity. Default: the system's `mailboxCapacity`. */
  readonly mailboxCapacity?: number
  /** Loads the state of an entity before it starts, and saves it after it has ended. Default: none. */
  readonly persistence?: EntityPersistence<S>
  /**
   * Remembers which entities there are, so that they start with their shard and not only with a message. They
   * are not passivated for being idle. Default: none.
   */
  readonly remembered?: RememberedEntities
}

/** One entity, for the function that creates its behavior. */
export interface EntityContext<M, S = undefined> {
  /** The name of the type. */
  readonly typeKey: string
  /** The id of the entity. */
  readonly entityId: string
  /** The number of its shard. */
  readonly shard: number
  /** Refers to the entity wherever it is, in this and any later incarnation. */
  readonly ref: ActorRef<M>
  /** The state that was loaded, and that is saved when the entity has ended; undefined is not saved. */
  state: S | undefined
  /**
   * Ends this incarnation once it has handled the messages that it has. Later ones wait for the next
   * incarnation.
   */
  passivate(): void
}

/** Keeps the states of entities while they do not run. */
export interface EntityPersistence<S> {
  /** Returns the state of an entity; undefined if it has none. An entity does not start if this fails. */
  load(entityId: string): MaybePromise<S | undefined>
  /**
   * Saves the state of an entity that was passivated, moves or stops, but not of one that has failed. The
   * next incarnation waits for it.
   */
  save(entityId: string, state: S): MaybePromise<void>
}

/** Keeps the ids of the entities of a type, for all nodes: in a database, for example. */
export interface RememberedEntities {
  /** Adds an entity, which may be there. An entity does not start before this has succeeded. */
  add(shard: number, entityId: string): MaybePromise<void>
  /** Removes an entity that has passivated itself or stopped. */
  remove(shard: number, entityId: string): MaybePromise<void>
  /** Returns the ids of a shard. It is called again if it fails. */
  list(shard: number): MaybePromise<readonly string[]>
}

/** A message with the id of the entity that it is for. */
export interface ShardEnvelope<M> {
  /** The id of the entity. */
  readonly entityId: string
  /** The message. */
  readonly message: M
}

/** The entities of a type, as one node reaches them. */
export interface ShardRegion<M> {
  /** The name of the type. */
  readonly typeKey: string
  /** The number of shards. */
  readonly shardCount: number
  /**
   * Returns a ref of an entity, wherever it is. Nothing is started. The ref can be sent to other nodes that
   * name the type in `shards`. Throws a `RangeError` if the id is not a string of 1 to 500 characters.
   */
  entityRef(entityId: string): ActorRef<M>
  /** Sends a message to an entity. */
  tell(envelope: ShardEnvelope<M>): void
  /** Returns the shard of an entity. */
  shardOf(entityId: string): number
  /** The shards that this node hosts. */
  readonly hosted: readonly number[]
  /** The number of entities on this node. */
  readonly entities: number
  /** Returns the node that hosts the shard, as far as this node knows. */
  homeOf(shard: number): NodeId | undefined
}

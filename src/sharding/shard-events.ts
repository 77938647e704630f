import type { NodeId } from "../address/node-id.js"

/** Published on the node that had a shard, when another node has it. */
export class ShardMoved {
  /** The name of the group. */
  readonly group: string
  /** The number of the shard. */
  readonly shard: number
  /** The node that has the shard. */
  readonly target: NodeId
  /** The generation of the shard there: the fencing token of its actors. */
  readonly generation: number
  /** For how long calls to the actors of the shard waited. */
  readonly pausedMs: number

  constructor(group: string, shard: number, target: NodeId, generation: number, pausedMs: number) {
    this.group = group
    this.shard = shard
    this.target = target
    this.generation = generation
    this.pausedMs = pausedMs
  }
}

/** Published when the actors of a shard did not end in time, so that the shard stays where it is for now. */
export class ShardMoveAbandoned {
  /** The name of the group. */
  readonly group: string
  /** The number of the shard. */
  readonly shard: number
  /** The node that the shard was to be moved to. */
  readonly target: NodeId
  /** Some of the actors that have not ended, at most 20. */
  readonly sample: readonly string[]

  constructor(group: string, shard: number, target: NodeId, sample: readonly string[]) {
    this.group = group
    this.shard = shard
    this.target = target
    this.sample = sample
  }
}

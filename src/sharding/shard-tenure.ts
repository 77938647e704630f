import type { ActorId } from "../address/actor-id.js"
import type { Revision } from "../ports/store.js"
import type { Incarnation } from "../registry/incarnation.js"
import { Tenure } from "../registry/tenure.js"
import type { HeldShard } from "./held-shard.js"

/**
 * The tenure of an actor in a shard: it stands on the record of the shard, and has doors of its own besides.
 *
 * Its generation is that of the shard, and grows with it while the activation goes on. An activation that has
 * ended keeps the last one, as code of it may still run beside its successor.
 */
export class ShardTenure extends Tenure {
  readonly shard: HeldShard
  /** The other tenures of the shard: a node may have a million, so there is no set of them. */
  next: ShardTenure | undefined = undefined
  previous: ShardTenure | undefined = undefined

  constructor(id: ActorId, shard: HeldShard) {
    super(id)
    this.shard = shard
  }

  get incarnation(): Incarnation {
    return this.shard.incarnation
  }

  get recordKey(): string {
    return this.shard.key
  }

  get generation(): Revision {
    return this.lastGeneration ?? this.shard.generation
  }

  protected get holder(): HeldShard {
    return this.shard
  }

  mayAct(): boolean {
    return this.endedBecause === undefined && this.shard.incarnation.mayAct()
  }

  mayBegin(): boolean {
    const { shard } = this
    return (
      this.endedBecause === undefined &&
      (shard.isOpen || shard.needs(this.id.name)) &&
      shard.incarnation.mayAct()
    )
  }

  /** On a node that leaves, a shard is open until it is moved. */
  get isEnding(): boolean {
    return !this.shard.isOpen
  }

  override isNeededBy(chain: readonly string[]): boolean {
    const { shard, id } = this
    if (shard.isOpen) return false
    if (!shard.needs(id.name) && shard.isAwaiting(chain)) shard.need(id.name)
    return shard.needs(id.name)
  }

  async opened(): Promise<boolean> {
    if (this.endedBecause !== undefined) return false
    return (await this.shard.incarnation.opened()) && this.endedBecause === undefined
  }

  override saving(): Promise<void> | undefined {
    return this.shard.saveBegins()
  }

  override saved(): void {
    this.shard.saveEnded()
  }
}

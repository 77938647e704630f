import type { Backlog } from "../../actor/backlog.js"
import type { ReplyRef } from "../../actor/reply-ref.js"
import { shardNumber } from "../../address/shard-number.js"
import type { Delivery } from "../../errors/call-errors.js"
import type { EntityRegion } from "./entity-region.js"

/** A message on its way to an entity. */
export class EntityMessage {
  readonly entityId: string
  readonly shard: number
  readonly message: unknown
  /** The ref for the answer, if the message is a question. */
  readonly reply: ReplyRef | undefined
  /** The connection that the message came by; undefined if it is from this node. */
  readonly origin: Origin | undefined
  readonly #region: EntityRegion

  constructor(
    region: EntityRegion,
    entityId: string,
    message: unknown,
    { reply, origin }: { readonly reply?: ReplyRef | undefined; readonly origin?: Origin | undefined } = {},
  ) {
    this.#region = region
    this.entityId = entityId
    this.shard = shardNumber(entityId, region.shardCount)
    this.message = message
    this.reply = reply
    this.origin = origin
  }

  /** Names the entity, for errors. */
  toString(): string {
    return `${this.#region.typeKey}/${this.entityId}`
  }

  /** Counts the message while it waits for its entity. */
  countIn(): void {
    this.origin?.backlog.enter(this.origin.weight, false)
  }

  countOut(): void {
    this.origin?.backlog.leave(this.origin.weight, 1)
  }

  /** Removes the message from where it waits. */
  withdraw(): Delivery {
    return this.#region.remove(this) ? "not-delivered" : "unknown"
  }
}

interface Origin {
  readonly weight: number
  readonly backlog: Backlog
}

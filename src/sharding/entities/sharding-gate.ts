import type { Backlog } from "../../actor/backlog.js"
import type { DeadLetterReason } from "../../actor/dead-letters.js"
import { InternalRef } from "../../actor/internal-ref.js"
import type { ReplyRef } from "../../actor/reply-ref.js"
import type { ActorPath } from "../../address/actor-path.js"
import { type CallError, type Delivery, InvalidMessageError } from "../../errors/call-errors.js"
import { RemoteReply } from "../../remote/remote-reply.js"
import { EntityMessage } from "./entity-message.js"
import { isEntityId } from "./entity-name.js"
import type { EntityRegion } from "./entity-region.js"
import { readRegionLetter } from "./read-region-letter.js"
import type { RegionLetter } from "./region-messages.js"

/**
 * The target of all that regions and coordinators of other nodes send, below the path `/system/sharding` of
 * every node: letters about shards, and messages for entities as `[typeKey, entityId, message]`.
 */
export class ShardingGate extends InternalRef<unknown> {
  readonly path: ActorPath
  readonly #receiver: GateReceiver

  constructor(path: ActorPath, receiver: GateReceiver) {
    super()
    this.path = path
    this.#receiver = receiver
  }

  override get mayBeGone(): boolean {
    return false
  }

  get capacity(): number {
    return Number.POSITIVE_INFINITY
  }

  tell(message: unknown): void {
    this.#receive(message, undefined)
  }

  accept(message: unknown): DeadLetterReason | undefined {
    this.#receive(message, undefined)
    return undefined
  }

  override receive(message: unknown, weight: number, backlog: Backlog): void {
    this.#receive(message, { weight, backlog })
  }

  request(reply: ReplyRef, message: unknown): CallError | undefined {
    return this.#request(reply, message, undefined)
  }

  override receiveRequest(
    reply: ReplyRef,
    message: unknown,
    _extras: object,
    weight: number,
    backlog: Backlog,
  ): CallError | undefined {
    return this.#request(reply, message, { weight, backlog })
  }

  withdraw(reply: ReplyRef): Delivery {
    return this.#receiver.withdraw(reply)
  }

  addWatcher(): void {}

  removeWatcher(): void {}

  #receive(message: unknown, origin: EntityMessage["origin"]): void {
    if (!Array.isArray(message)) {
      const letter = readRegionLetter(message)
      return letter === undefined ? this.#receiver.unreadable() : this.#receiver.read(letter)
    }
    const delivery = this.#deliveryOf(message, undefined, origin)
    if (delivery === undefined) return this.#receiver.unreadable()
    delivery.region.receive(delivery.message)
  }

  #request(reply: ReplyRef, message: unknown, origin: EntityMessage["origin"]): CallError | undefined {
    const delivery = Array.isArray(message) ? this.#deliveryOf(message, reply, origin) : undefined
    if (delivery === undefined)
      return new InvalidMessageError("the message is not for an entity of this node")
    if (reply instanceof RemoteReply) reply.subject = delivery.message
    return delivery.region.receive(delivery.message)
  }

  #deliveryOf(
    [typeKey, entityId, message]: readonly unknown[],
    reply: ReplyRef | undefined,
    origin: EntityMessage["origin"],
  ): { readonly region: EntityRegion; readonly message: EntityMessage } | undefined {
    const region = typeof typeKey === "string" ? this.#receiver.region(typeKey) : undefined
    if (region === undefined || !isEntityId(entityId)) return undefined
    return { region, message: new EntityMessage(region, entityId, message, { reply, origin }) }
  }
}

interface GateReceiver {
  region(typeKey: string): EntityRegion | undefined
  read(letter: RegionLetter): void
  withdraw(reply: ReplyRef): Delivery
  /** Something has come that no node of this version sends. */
  unreadable(): void
}

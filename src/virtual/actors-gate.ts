import type { DeadLetterReason } from "../actor/dead-letters.js"
import { InternalRef } from "../actor/internal-ref.js"
import type { ReplyRef } from "../actor/reply-ref.js"
import { ActorPath } from "../address/actor-path.js"
import type { Address } from "../address/address.js"
import { type CallError, type Delivery, InvalidMessageError } from "../errors/call-errors.js"
import { RemoteReply } from "../remote/remote-reply.js"
import type { Extras } from "../serialization/envelope.js"
import { Guest, isCallMessage } from "./guest.js"

/** Where the calls of other nodes come in: `/system/actors`, on every node. */
export class ActorsGate extends InternalRef<unknown> {
  readonly path: ActorPath
  readonly #namespace: string
  readonly #hall: GuestHall

  constructor(address: Address, namespace: string, hall: GuestHall) {
    super()
    this.path = gatePath(address)
    this.#namespace = namespace
    this.#hall = hall
  }

  get capacity(): number {
    return Number.POSITIVE_INFINITY
  }

  tell(message: unknown): void {
    this.#hall.told(message)
  }

  accept(message: unknown): DeadLetterReason | undefined {
    this.#hall.told(message)
    return undefined
  }

  request(reply: ReplyRef, message: unknown, extras?: object): CallError | undefined {
    if (!(reply instanceof RemoteReply)) return new InvalidMessageError("calls come in from other nodes here")
    if (!isCallMessage(message)) return new InvalidMessageError("it is no call")
    this.#hall.receive(new Guest(this.#namespace, message, extras as Extras, reply))
    return undefined
  }

  withdraw(): Delivery {
    return "unknown"
  }

  /** It is there as long as the system is. */
  addWatcher(): void {}
  removeWatcher(): void {}
}

export function gatePath(address: Address): ActorPath {
  return ActorPath.root(address, "system").child(GATE)
}

export const GATE = "actors"

/** What the gate hands on. */
export interface GuestHall {
  receive(guest: Guest): void
  /** What another node tells of itself. */
  told(message: unknown): void
}

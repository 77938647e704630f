import type { Backlog } from "../actor/backlog.js"
import type { DeadLetterReason } from "../actor/dead-letters.js"
import { InternalRef } from "../actor/internal-ref.js"
import type { ReplyRef } from "../actor/reply-ref.js"
import { ActorPath } from "../address/actor-path.js"
import type { Address } from "../address/address.js"
import { PlacementError } from "../errors/actor-call-errors.js"
import { type CallError, type Delivery, InvalidMessageError } from "../errors/call-errors.js"
import { RemoteReply } from "../remote/remote-reply.js"
import type { Extras } from "../serialization/envelope.js"
import { Guest, type GuestHouse, isCallMessage } from "./guest.js"
import { Refusals } from "./refusals.js"

/** Where the calls of other nodes come in: `/system/actors`, on every node. */
export class ActorsGate extends InternalRef<unknown> {
  readonly path: ActorPath
  readonly #house: GuestHouse
  readonly #hall: GuestHall

  constructor(address: Address, namespace: string, hall: GuestHall) {
    super()
    this.path = gatePath(address)
    this.#house = { namespace, refusals: new Refusals() }
    this.#hall = hall
  }

  /** It is there as long as the system is. */
  override get mayBeGone(): boolean {
    return false
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
    return this.#admit(new Guest(this.#house, message, extras as Extras, reply))
  }

  override receiveRequest(
    reply: ReplyRef,
    message: unknown,
    extras: object,
    weight: number,
    backlog: Backlog,
  ): CallError | undefined {
    if (!(reply instanceof RemoteReply) || !isCallMessage(message)) return this.request(reply, message)
    const guest = new Guest(this.#house, message, extras as Extras, reply)
    guest.countIn(backlog, weight)
    return this.#admit(guest)
  }

  #admit(guest: Guest): undefined {
    if (!this.#house.refusals.cover(guest)) this.#hall.receive(guest)
    else guest.fail(guest.idProblem ?? sentTooEarly(guest))
  }

  withdraw(): Delivery {
    return "unknown"
  }

  addWatcher(): void {}
  removeWatcher(): void {}
}

function sentTooEarly({ id }: Guest): PlacementError {
  return new PlacementError(
    id.toString(),
    "not-here",
    "an earlier call to it was refused, and this one was sent before",
  )
}

export function gatePath(address: Address): ActorPath {
  return ActorPath.root(address, "system").child("actors")
}

/** Its path within any system. */
export const GATE = "/system/actors"

/** What the gate hands on. */
export interface GuestHall {
  receive(guest: Guest): void
  /** What another node tells of itself. */
  told(message: unknown): void
}

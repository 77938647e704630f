import type { Backlog } from "../actor/backlog.js"
import type { DeadLetterReason } from "../actor/dead-letters.js"
import { InternalRef } from "../actor/internal-ref.js"
import type { ReplyRef } from "../actor/reply-ref.js"
import { ActorPath } from "../address/actor-path.js"
import type { Address } from "../address/address.js"
import { type CallError, type Delivery, InvalidMessageError } from "../errors/call-errors.js"
import { RemoteReply } from "../remote/remote-reply.js"
import type { Extras } from "../serialization/envelope.js"
import { type CallReceiver, IncomingCall, isCallMessage } from "./incoming-call.js"

/** The target of calls from other nodes, at the path `/system/actors` of every node. */
export class ActorsGate extends InternalRef<unknown> {
  readonly path: ActorPath
  readonly #receiver: CallReceiver

  constructor(address: Address, receiver: CallReceiver) {
    super()
    this.path = gatePath(address)
    this.#receiver = receiver
  }

  /** The gate exists as long as the system. */
  override get mayBeGone(): boolean {
    return false
  }

  get capacity(): number {
    return Number.POSITIVE_INFINITY
  }

  /** Every call is a question. Other messages are hints about what is due, and may be lost. */
  tell(message: unknown): void {
    if (!Array.isArray(message)) return
    const [ward, at, type] = message as readonly unknown[]
    if (typeof ward !== "string" || typeof at !== "number") return
    this.#receiver.hinted({ ward, at, type: typeof type === "string" ? type : undefined })
  }

  accept(message: unknown): DeadLetterReason | undefined {
    this.tell(message)
    return undefined
  }

  request(reply: ReplyRef, message: unknown, extras?: object): CallError | undefined {
    if (!(reply instanceof RemoteReply))
      return new InvalidMessageError("this path accepts calls from other nodes only")
    if (!isCallMessage(message))
      return new InvalidMessageError("the message must be a call: [type, key, method, args, kind?]")
    this.#receiver.receive(new IncomingCall(this.#receiver, message, extras as Extras, reply))
    return undefined
  }

  override receiveRequest(
    reply: ReplyRef,
    message: unknown,
    extras: object,
    weight: number,
    backlog: Backlog,
  ): CallError | undefined {
    if (!(reply instanceof RemoteReply) || !isCallMessage(message)) return this.request(reply, message)
    const call = new IncomingCall(this.#receiver, message, extras as Extras, reply)
    call.countIn(backlog, weight)
    this.#receiver.receive(call)
    return undefined
  }

  withdraw(): Delivery {
    return "unknown"
  }

  addWatcher(): void {}
  removeWatcher(): void {}
}

export function gatePath(address: Address): ActorPath {
  return ActorPath.root(address, "system").child("actors")
}

/** The path of the gate within any system. */
export const GATE = "/system/actors"

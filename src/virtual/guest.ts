import { ActorId } from "../address/actor-id.js"
import { ActorIdError } from "../address/actor-id-error.js"
import { InvalidMessageError } from "../errors/call-errors.js"
import { actorKey } from "../registry/registry-keys.js"
import type { RemoteReply } from "../remote/remote-reply.js"
import { type Extras, SUPPRESS_KEEP_ALIVE } from "../serialization/envelope.js"
import type { Invocation } from "./invocation.js"

/** A call that came from another node. Whoever made it keeps its time, and tries again where that helps. */
export class Guest implements Invocation {
  readonly id: ActorId
  readonly key: string
  readonly method: string
  readonly args: readonly unknown[]
  readonly isOneWay: boolean
  readonly keepsNothingAlive: boolean
  readonly chain: readonly string[]
  readonly #reply: RemoteReply

  constructor(id: ActorId, message: CallMessage, extras: Extras, reply: RemoteReply) {
    const [, , method, args, oneWay] = message
    this.id = id
    this.key = actorKey(id)
    this.method = method
    this.args = args
    this.isOneWay = oneWay === ONE_WAY_CALL
    this.keepsNothingAlive = (extras.flags & SUPPRESS_KEEP_ALIVE) !== 0
    this.chain = extras.chain
    this.#reply = reply
  }

  get isOver(): boolean {
    // Nobody waits for the end of a one-way message; it is to be run all the same.
    return !this.isOneWay && this.#reply.isOver
  }

  accepted(): void {
    if (this.isOneWay) this.#reply.accept(undefined)
  }

  begun(): void {}

  succeed(value: unknown): void {
    if (!this.isOneWay) this.#reply.accept(value)
  }

  fail(error: Error): void {
    this.#reply.fail(error)
  }
}

/** What is sent for a call: type, key, method and arguments; and whether its answer is only that it was taken. */
export type CallMessage = readonly [
  type: string,
  key: string,
  method: string,
  args: readonly unknown[],
  oneWay?: number,
]

export const ONE_WAY_CALL = 1

/** The actor that a message is for. What comes from outside is looked at here, and nowhere else. */
export function idOf(namespace: string, message: unknown): ActorId | InvalidMessageError {
  if (!Array.isArray(message)) return new InvalidMessageError("it is no call")
  const [type, key, method, args] = message as readonly unknown[]
  if (
    typeof type !== "string" ||
    typeof key !== "string" ||
    typeof method !== "string" ||
    !Array.isArray(args)
  ) {
    return new InvalidMessageError("it is no call")
  }
  const id = ActorId.tryOf(namespace, type, key)
  return id instanceof ActorIdError ? new InvalidMessageError(id.message) : id
}

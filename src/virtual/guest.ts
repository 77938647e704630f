import { ActorId } from "../address/actor-id.js"
import { ActorIdError } from "../address/actor-id-error.js"
import { InvalidMessageError } from "../errors/call-errors.js"
import type { RemoteReply } from "../remote/remote-reply.js"
import { type Extras, SUPPRESS_KEEP_ALIVE } from "../serialization/envelope.js"
import { type Invocation, localKey } from "./invocation.js"

/** A call that came from another node. Whoever made it keeps its time, and tries again where that helps. */
export class Guest implements Invocation {
  readonly key: string
  readonly chain: readonly string[]
  readonly #namespace: string
  readonly #message: CallMessage
  readonly #flags: number
  readonly #reply: RemoteReply

  constructor(namespace: string, message: CallMessage, extras: Extras, reply: RemoteReply) {
    this.key = localKey({ type: message[0], key: message[1] })
    this.chain = extras.chain
    this.#namespace = namespace
    this.#message = message
    this.#flags = extras.flags
    this.#reply = reply
  }

  /** Made when it is asked for: to find an actor that runs here its key will do. */
  get id(): ActorId {
    const [type, key] = this.#message
    return ActorId.of(this.#namespace, type, key)
  }

  /** Why it is no id. */
  get idProblem(): InvalidMessageError | undefined {
    const [type, key] = this.#message
    const id = ActorId.tryOf(this.#namespace, type, key)
    return id instanceof ActorIdError ? new InvalidMessageError(id.message) : undefined
  }

  get method(): string {
    return this.#message[2]
  }

  get args(): readonly unknown[] {
    return this.#message[3]
  }

  get isOneWay(): boolean {
    return this.#message[4] === ONE_WAY_CALL
  }

  get keepsNothingAlive(): boolean {
    return (this.#flags & SUPPRESS_KEEP_ALIVE) !== 0
  }

  get isOver(): boolean {
    return this.#reply.isOver
  }

  begun(): void {
    if (this.isOneWay) this.#reply.accept(undefined)
  }

  succeed(value: unknown): void {
    if (!this.isOneWay) this.#reply.accept(value)
  }

  fail(error: Error): void {
    this.#reply.fail(error)
  }
}

/** What is sent for a call: type, key, method and arguments; and whether its answer is only that it has begun. */
export type CallMessage = readonly [
  type: string,
  key: string,
  method: string,
  args: readonly unknown[],
  oneWay?: number,
]

export const ONE_WAY_CALL = 1

/** What comes from outside is looked at here, and nowhere else. */
export function isCallMessage(message: unknown): message is CallMessage {
  if (!Array.isArray(message)) return false
  const [type, key, method, args] = message as readonly unknown[]
  return (
    typeof type === "string" && typeof key === "string" && typeof method === "string" && Array.isArray(args)
  )
}

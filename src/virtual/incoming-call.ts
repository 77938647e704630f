import type { Backlog } from "../actor/backlog.js"
import { ActorId } from "../address/actor-id.js"
import { ActorIdError } from "../address/actor-id-error.js"
import { InvalidMessageError, type OverloadedError } from "../errors/call-errors.js"
import type { TraceContext } from "../ports/telemetry.js"
import type { RemoteReply } from "../remote/remote-reply.js"
import { type Extras, SUPPRESS_KEEP_ALIVE } from "../serialization/envelope.js"
import type { AdmittableCall, CallQueue } from "./call-admission.js"
import type { Invocation } from "./invocation.js"
import { isRetryable } from "./retryable.js"

/** A call from another node. Its caller keeps its time, and retries it where that helps. */
export class IncomingCall implements Invocation, AdmittableCall {
  readonly key: string
  readonly chain: readonly string[]
  readonly trace: TraceContext | undefined
  readonly #message: CallMessage
  #args: readonly unknown[]
  readonly #flags: number
  readonly #reply: RemoteReply
  readonly #receiver: CallReceiver
  #backlog: Backlog | undefined = undefined
  #weight = 0
  #queue: CallQueue | undefined = undefined

  constructor(receiver: CallReceiver, message: CallMessage, extras: Extras, reply: RemoteReply) {
    this.key = ActorId.nameOf(message[0], message[1])
    this.chain = extras.chain
    this.trace = extras.trace
    this.#message = message
    this.#args = message[3]
    this.#flags = extras.flags
    this.#reply = reply
    this.#receiver = receiver
  }

  /** Made when it is asked for: to find an actor that runs here its key will do. */
  get id(): ActorId {
    const [type, key] = this.#message
    return ActorId.of(this.#receiver.namespace, type, key)
  }

  /** Why it is no id. */
  get idProblem(): InvalidMessageError | undefined {
    const [type, key] = this.#message
    const id = ActorId.tryOf(this.#receiver.namespace, type, key)
    return id instanceof ActorIdError ? new InvalidMessageError(id.message) : undefined
  }

  get problem(): Error | undefined {
    return this.idProblem ?? this.#receiver.methodProblem(this)
  }

  get method(): string {
    return this.#message[2]
  }

  get args(): readonly unknown[] {
    return this.#args
  }

  get isOneWay(): boolean {
    return ((this.#message[4] ?? 0) & ONE_WAY_CALL) !== 0
  }

  /** It came back to whoever made it, and is sent anew. */
  get isResent(): boolean {
    return ((this.#message[4] ?? 0) & RESENT) !== 0
  }

  /** The connection that it came by. */
  get connection(): object {
    return this.#reply.connection
  }

  get keepsNothingAlive(): boolean {
    return (this.#flags & SUPPRESS_KEEP_ALIVE) !== 0
  }

  get isOver(): boolean {
    return this.#reply.isOver
  }

  /** Counts it among what came by its connection, from now until its turn begins or it ends. */
  countIn(backlog: Backlog, weight: number): void {
    this.#backlog = backlog
    this.#weight = weight
    this.#reply.question = this
    backlog.enter(weight, false)
  }

  /** It is to wait behind as many others; or what to say where there is no room for it. */
  waitIn(queue: CallQueue, waiting: number): OverloadedError | undefined {
    const backlog = this.#backlog
    if (backlog === undefined) return undefined
    this.#leaveQueue()
    if (waiting > 0) {
      const isFull = waiting >= backlog.room || queue.queuedBytes + this.#weight > backlog.roomBytes
      if (isFull) return backlog.refusal(this.id.toString())
    }
    this.#queue = queue
    queue.queuedBytes += this.#weight
    return undefined
  }

  /** Nobody waits for the answer any more; where its turn has not begun, it never will. */
  replyOver(): void {
    if (this.#backlog === undefined) return
    this.#args = NOTHING
    this.#release()
  }

  begun(): void {
    this.#release()
    if (this.isOneWay) this.#reply.accept(undefined)
  }

  succeed(value: unknown): void {
    if (!this.isOneWay) this.#reply.accept(value)
  }

  fail(error: Error): void {
    this.#release()
    if (!this.#reply.isOver && isRetryable(error)) this.#receiver.refused(this)
    this.#reply.fail(error)
  }

  #release(): void {
    const backlog = this.#backlog
    if (backlog === undefined) return
    this.#backlog = undefined
    this.#leaveQueue()
    backlog.leave(this.#weight, 1)
  }

  #leaveQueue(): void {
    if (this.#queue !== undefined) this.#queue.queuedBytes -= this.#weight
    this.#queue = undefined
  }
}

const NOTHING: readonly unknown[] = []

/** What takes calls from other nodes. */
export interface CallReceiver {
  readonly namespace: string
  receive(call: IncomingCall): void
  /** The call was refused, and will be retried. */
  refused(call: IncomingCall): void
  /** An error where this node hosts the type, which has no such method. */
  methodProblem(call: IncomingCall): Error | undefined
  /** Another node tells something of itself. */
  told(message: unknown): void
}

/** What is sent for a call: type, key, method and arguments; and what is special about it. */
export type CallMessage = readonly [
  type: string,
  key: string,
  method: string,
  args: readonly unknown[],
  kind?: number,
]

/** Its answer is only that it has begun. */
export const ONE_WAY_CALL = 1
export const RESENT = 2

/** What comes from outside is looked at here, and nowhere else. */
export function isCallMessage(message: unknown): message is CallMessage {
  if (!Array.isArray(message)) return false
  const [type, key, method, args, kind] = message as readonly unknown[]
  return (
    typeof type === "string" &&
    // With one, a type and a key could spell the name of another actor.
    !type.includes("/") &&
    typeof key === "string" &&
    typeof method === "string" &&
    Array.isArray(args) &&
    (kind === undefined || typeof kind === "number")
  )
}

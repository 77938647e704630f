import type { Backlog } from "../actor/backlog.js"
import { ActorId } from "../address/actor-id.js"
import { ActorIdError } from "../address/actor-id-error.js"
import { InvalidMessageError, type OverloadedError } from "../errors/call-errors.js"
import type { TraceContext } from "../ports/telemetry.js"
import type { RemoteReply } from "../remote/remote-reply.js"
import { type Extras, SUPPRESS_KEEP_ALIVE } from "../serialization/envelope.js"
import type { AdmittableCall, CallQueue } from "./call-admission.js"
import type { DueHint } from "./due-index.js"
import type { Invocation } from "./invocation.js"
import { type Operation, type OperationOnTheWire, unpackOperation } from "./operation.js"
import { isPrincipal, type Principal } from "./principal.js"
import { isRetried } from "./retryable.js"

/** A call from another node. The calling node keeps its timeout, and retries it if the error is retryable. */
export class IncomingCall implements Invocation, AdmittableCall {
  readonly key: string
  readonly chain: readonly string[]
  readonly trace: TraceContext | undefined
  readonly operation: Operation | undefined
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
    this.operation = message[5] === undefined ? undefined : unpackOperation(message[5])
    this.#message = message
    this.#args = message[3]
    this.#flags = extras.flags
    this.#reply = reply
    this.#receiver = receiver
  }

  /** The type of the actor, as the caller wrote it. */
  get type(): string {
    return this.#message[0]
  }

  /** Created on demand, as the key suffices to find an actor that runs here. */
  get id(): ActorId {
    const [type, key] = this.#message
    return ActorId.of(this.#receiver.namespace, type, key)
  }

  /** The reason why type and key are not a valid id. */
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

  get caller(): Principal | undefined {
    return this.#message[6]
  }

  get isOneWay(): boolean {
    return ((this.#message[4] ?? 0) & ONE_WAY_CALL) !== 0
  }

  get isResent(): boolean {
    return ((this.#message[4] ?? 0) & RESENT) !== 0
  }

  get connection(): object {
    return this.#reply.connection
  }

  get isBackground(): boolean {
    return (this.#flags & SUPPRESS_KEEP_ALIVE) !== 0
  }

  get isOver(): boolean {
    return this.#reply.isOver
  }

  /** Counts the call in the backlog of its connection until its turn begins or the call ends. */
  countIn(backlog: Backlog, weight: number): void {
    this.#backlog = backlog
    this.#weight = weight
    this.#reply.question = this
    backlog.enter(weight, false)
  }

  /** Adds the call to a queue of `waiting` calls; returns an error if its connection has no room for it. */
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

  /** Releases the arguments: the caller no longer waits, and a turn that has not begun never will. */
  replyOver(): void {
    if (this.#backlog === undefined) return
    this.#args = NOTHING
    this.#release()
  }

  begun(): void {
    this.#release()
    if (this.isOneWay && this.operation === undefined) this.#reply.accept(undefined)
  }

  succeed(value: unknown): void {
    if (!this.isOneWay) this.#reply.accept(value)
    else if (this.operation !== undefined) this.#reply.accept(undefined)
  }

  fail(error: Error): void {
    this.#release()
    if (!this.#reply.isOver && isRetried(error, this)) this.#receiver.refused(this)
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

/** The receiver of calls and notifications from other nodes. */
export interface CallReceiver {
  readonly namespace: string
  receive(call: IncomingCall): void
  /** Another node has put an entry of this time into the index of what is due. */
  hinted(hint: DueHint): void
  /** Records that the call was refused and will be retried. */
  refused(call: IncomingCall): void
  /** Returns an error if this node hosts the type, and the type has no such method. */
  methodProblem(call: IncomingCall): Error | undefined
}

/** The message of a call: type, key, method, arguments, flags, operation, and the principal of a gateway. */
export type CallMessage = readonly [
  type: string,
  key: string,
  method: string,
  args: readonly unknown[],
  kind?: number,
  operation?: OperationOnTheWire | undefined,
  caller?: Principal,
]

/** The flag of a one-way call, whose answer says only that its turn has begun. */
export const ONE_WAY_CALL = 1
/** The flag of a call that came back to its caller and was sent again. */
export const RESENT = 2

/** Validates a message from another node; the only check of its shape. */
export function isCallMessage(message: unknown): message is CallMessage {
  if (!Array.isArray(message)) return false
  const [type, key, method, args, kind, operation, caller] = message as readonly unknown[]
  return (
    typeof type === "string" &&
    // With a slash, a type and a key could form the name of another actor.
    !type.includes("/") &&
    typeof key === "string" &&
    typeof method === "string" &&
    Array.isArray(args) &&
    (kind === undefined || typeof kind === "number") &&
    (operation === undefined || unpackOperation(operation) !== undefined) &&
    (caller === undefined || isPrincipal(caller))
  )
}

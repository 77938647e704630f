import type { Backlog } from "../actor/backlog.js"
import { ActorId } from "../address/actor-id.js"
import { ActorIdError } from "../address/actor-id-error.js"
import { PlacementError } from "../errors/actor-call-errors.js"
import { FencedError, InvalidMessageError, type OverloadedError } from "../errors/call-errors.js"
import type { TraceContext } from "../ports/telemetry.js"
import type { RemoteReply } from "../remote/remote-reply.js"
import { type Extras, SUPPRESS_KEEP_ALIVE } from "../serialization/envelope.js"
import { type Invocation, localKey } from "./invocation.js"
import type { Refusals } from "./refusals.js"

/** A call that came from another node. Whoever made it keeps its time, and tries again where that helps. */
export class Guest implements Invocation {
  readonly key: string
  readonly chain: readonly string[]
  readonly trace: TraceContext | undefined
  readonly #namespace: string
  readonly #message: CallMessage
  #args: readonly unknown[]
  readonly #flags: number
  readonly #reply: RemoteReply
  readonly #refusals: Refusals
  #backlog: Backlog | undefined = undefined
  #weight = 0
  #queue: GuestQueue | undefined = undefined

  constructor({ namespace, refusals }: GuestHouse, message: CallMessage, extras: Extras, reply: RemoteReply) {
    this.key = localKey({ type: message[0], key: message[1] })
    this.chain = extras.chain
    this.trace = extras.trace
    this.#namespace = namespace
    this.#message = message
    this.#args = message[3]
    this.#flags = extras.flags
    this.#reply = reply
    this.#refusals = refusals
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
    return this.#args
  }

  get isOneWay(): boolean {
    return ((this.#message[4] ?? 0) & ONE_WAY_CALL) !== 0
  }

  /** It came back to whoever made it, and is sent anew. */
  get isAgain(): boolean {
    return ((this.#message[4] ?? 0) & AGAIN) !== 0
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
  wait(queue: GuestQueue, waiting: number): OverloadedError | undefined {
    const backlog = this.#backlog
    if (backlog === undefined) return undefined
    this.#leaveQueue()
    if (waiting > 0) {
      const isFull = waiting >= backlog.room || queue.guestBytes + this.#weight > backlog.roomBytes
      if (isFull) return backlog.refusal(this.id.toString())
    }
    this.#queue = queue
    queue.guestBytes += this.#weight
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
    if (!this.#reply.isOver && isTriedAgain(error)) this.#refusals.add(this)
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
    if (this.#queue !== undefined) this.#queue.guestBytes -= this.#weight
    this.#queue = undefined
  }
}

const NOTHING: readonly unknown[] = []

/** Where calls from other nodes wait. */
export interface GuestQueue {
  /** What those that wait weigh. */
  guestBytes: number
}

/** What those who made the calls do about these errors, which is in `message-bus.ts`. */
function isTriedAgain(error: Error): boolean {
  return (
    error instanceof PlacementError || (error instanceof FencedError && error.delivery === "not-delivered")
  )
}

/** What guests need of where they are. */
export interface GuestHouse {
  readonly namespace: string
  readonly refusals: Refusals
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
export const AGAIN = 2

/** What comes from outside is looked at here, and nowhere else. */
export function isCallMessage(message: unknown): message is CallMessage {
  if (!Array.isArray(message)) return false
  const [type, key, method, args, kind] = message as readonly unknown[]
  return (
    typeof type === "string" &&
    // With one, a type and a key could spell the local key of another actor.
    !type.includes("/") &&
    typeof key === "string" &&
    typeof method === "string" &&
    Array.isArray(args) &&
    (kind === undefined || typeof kind === "number")
  )
}

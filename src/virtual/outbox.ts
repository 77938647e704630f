import { ActorId } from "../address/actor-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Message } from "./message.js"

/**
 * The stored messages of one actor that are not delivered yet: a decision.
 *
 * The messages for one receiver are delivered in their order, one at a time, so that the receiver need only
 * remember the number of the last one. Of its queue, the first message is
 *
 *     ready --> in flight --> answered                         its row may be deleted
 *       ^         |     \--> thrown --> telling --> told       its row was deleted with what its sender did
 *       |       failed                     |
 *       +-- pausing <----------------------+ failed
 *
 * Only the receiver's method can end a delivery, by its answer or by what it throws. Everything else that
 * goes wrong is tried again, without end and with growing pauses. A message that the method has thrown on
 * keeps its place until its sender has been told: the receiver remembers the error for the last message only,
 * so after the next one a sender that starts anew could not learn of it.
 *
 * Receivers take turns: at most `maxInFlight` of them at a time.
 */
export class Outbox {
  readonly #maxInFlight: number
  readonly #queues = new Map<string, Queue>()
  /** The queues whose first message may be delivered, in their order. */
  readonly #ready: Queue[] = []
  #inFlight = 0
  #stuck = 0

  constructor(maxInFlight: number = MAX_IN_FLIGHT) {
    this.#maxInFlight = maxInFlight
  }

  /** Whether there are messages that are not known to be stuck. */
  get isDelivering(): boolean {
    return this.#queues.size > this.#stuck
  }

  /** Whether there are messages, and all of them are stuck. */
  get isStuck(): boolean {
    return this.#queues.size > 0 && this.#stuck === this.#queues.size
  }

  handle(event: OutboxEvent, now: MonotonicMs): readonly OutboxCommand[] {
    if (event.kind === "stored") return this.#stored(event.messages)
    const queue = this.#queues.get(event.to)
    if (queue === undefined) return NOTHING
    switch (event.kind) {
      case "answered":
        return [remove(queue), ...this.#ended(queue)]
      case "thrown":
        queue.thrown = { error: event.error }
        return [tell(queue), ...this.#free()]
      case "told":
        return this.#ended(queue)
      case "failed":
        return this.#failed(queue, event.error, now)
      case "waited":
        return this.#waited(queue)
    }
  }

  #stored(messages: readonly Message[]): readonly OutboxCommand[] {
    for (const message of messages) {
      const to = receiverOf(message)
      const known = this.#queues.get(to)
      if (known !== undefined) {
        known.messages.push(message)
        continue
      }
      const queue = { to, messages: [message], ...FRESH }
      this.#queues.set(to, queue)
      this.#ready.push(queue)
    }
    return this.#deliver()
  }

  /** The first message of the queue has ended, which was in flight, or whose sender was told. */
  #ended(queue: Queue): readonly OutboxCommand[] {
    if (queue.thrown === undefined) this.#inFlight -= 1
    if (queue.isStuck) this.#stuck -= 1
    Object.assign(queue, FRESH)
    queue.messages.shift()
    if (queue.messages.length === 0) this.#queues.delete(queue.to)
    else this.#ready.push(queue)
    return this.#deliver()
  }

  #failed(queue: Queue, error: unknown, now: MonotonicMs): readonly OutboxCommand[] {
    const { to } = queue
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** queue.failures, LAST_PAUSE_MS)
    queue.failures += 1
    queue.failedAt ??= now
    const commands: OutboxCommand[] = [{ kind: "wait", to, ms: pauseMs }]
    if (!queue.isStuck && now - queue.failedAt >= STUCK_AFTER_MS) {
      queue.isStuck = true
      this.#stuck += 1
      commands.push({ kind: "report", message: first(queue), failures: queue.failures, error })
    }
    return queue.thrown === undefined ? [...commands, ...this.#free()] : commands
  }

  #waited(queue: Queue): readonly OutboxCommand[] {
    if (queue.thrown !== undefined) return [tell(queue)]
    this.#ready.push(queue)
    return this.#deliver()
  }

  /** A delivery is no longer in flight. */
  #free(): readonly OutboxCommand[] {
    this.#inFlight -= 1
    return this.#deliver()
  }

  #deliver(): readonly OutboxCommand[] {
    const commands: OutboxCommand[] = []
    while (this.#inFlight < this.#maxInFlight) {
      const queue = this.#ready.shift()
      if (queue === undefined) break
      this.#inFlight += 1
      commands.push({ kind: "deliver", to: queue.to, message: first(queue), isRepeat: queue.failures > 0 })
    }
    return commands
  }
}

/** The name of the actor that a message is for. */
export function receiverOf({ type, key }: Message): string {
  return ActorId.nameOf(type, key)
}

/** What happened to messages; `to` is the receiver whose first message it is about. */
export type OutboxEvent =
  /** The commit was made that these are part of, or they were read. In the order of their numbers. */
  | { readonly kind: "stored"; readonly messages: readonly Message[] }
  /** The receiver has applied it. */
  | { readonly kind: "answered"; readonly to: string }
  /** The receiver's method threw, or refused the arguments. */
  | { readonly kind: "thrown"; readonly to: string; readonly error: unknown }
  /** The sender was told of it, and what it did is stored. */
  | { readonly kind: "told"; readonly to: string }
  /** The delivery failed, or the sender could not be told. */
  | { readonly kind: "failed"; readonly to: string; readonly error: unknown }
  /** The pause has passed. */
  | { readonly kind: "waited"; readonly to: string }

export type OutboxCommand =
  | { readonly kind: "deliver"; readonly to: string; readonly message: Message; readonly isRepeat: boolean }
  /** Tell the sender, in a turn that deletes the row. */
  | { readonly kind: "tell"; readonly to: string; readonly message: Message; readonly error: unknown }
  | { readonly kind: "wait"; readonly to: string; readonly ms: number }
  /** Show that the message is stuck. */
  | {
      readonly kind: "report"
      readonly message: Message
      readonly failures: number
      readonly error: unknown
    }
  /** Delete the row, some time. */
  | { readonly kind: "delete"; readonly number: number }

/** The messages for one receiver. The fields are about the first one. */
interface Queue {
  readonly to: string
  readonly messages: Message[]
  failures: number
  /** When an attempt first failed. */
  failedAt: MonotonicMs | undefined
  isStuck: boolean
  thrown: { readonly error: unknown } | undefined
}

const FRESH = { failures: 0, failedAt: undefined, isStuck: false, thrown: undefined }

function first({ messages }: Queue): Message {
  return messages[0] as Message
}

function tell(queue: Queue): OutboxCommand {
  return { kind: "tell", to: queue.to, message: first(queue), error: queue.thrown?.error }
}

function remove(queue: Queue): OutboxCommand {
  return { kind: "delete", number: first(queue).number }
}

const NOTHING: readonly never[] = []
const MAX_IN_FLIGHT = 256
const FIRST_PAUSE_MS = 100
const LAST_PAUSE_MS = 60_000
/** Deliveries fail for a few seconds whenever a node is lost. */
const STUCK_AFTER_MS = 15_000

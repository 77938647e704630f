import type { ActorPath } from "../address/actor-path.js"
import type { Clock, MonotonicMs } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { EventStream } from "./event-stream.js"

export type DeadLetterReason =
  /** The actor has stopped, or is about to. */
  | "stopped"
  /** No actor is at the path. */
  | "unknown"
  /** The incarnation that was meant has stopped; another may have its name by now. */
  | "old-incarnation"
  /** Its mailbox is full. */
  | "mailbox-full"
  /** The actor said that it does not handle the message. */
  | "unhandled"
  /** The ask that this answers has ended: answered, timed out, cancelled or failed. */
  | "ask-ended"
  /** It cannot cross the wire: something in it is no data, or it is too large. */
  | "not-sendable"
  /** It came from another node and has something in it that is not known here. */
  | "unreadable"
  /** Its node is not connected, and as many messages wait for that as may. */
  | "deferred-full"
  /** Its node takes messages more slowly than they are sent, and as many wait as may. */
  | "outbound-full"
  /** Nothing is exchanged with its node. */
  | "quarantined"
  /** Its node could not be reached in time, or is gone. */
  | "unreachable"

/** A message that nobody will handle. */
export class DeadLetter {
  readonly message: unknown
  readonly recipient: ActorPath
  readonly reason: DeadLetterReason

  constructor(message: unknown, recipient: ActorPath, reason: DeadLetterReason) {
    this.message = message
    this.recipient = recipient
    this.reason = reason
  }
}

/**
 * Where messages end that nobody will handle: counted, told to whoever listens to `DeadLetter`, and logged, a few a minute, so
 * that a flood of them does not become a flood of lines. The log has the kind of a message, never its content.
 */
export class DeadLetters {
  readonly #events: EventStream
  readonly #logger: Logger
  readonly #clock: Clock
  #count = 0
  #logged = 0
  #quietUntil: MonotonicMs = 0

  constructor(events: EventStream, logger: Logger, clock: Clock) {
    this.#events = events
    this.#logger = logger
    this.#clock = clock
  }

  /** How many there have been. */
  get count(): number {
    return this.#count
  }

  add(message: unknown, recipient: { readonly path: ActorPath }, reason: DeadLetterReason): void {
    this.#count += 1
    // A dead letter that could not be delivered either is not told again: the two would go on forever.
    const news = !(message instanceof DeadLetter) && this.#events.has(DeadLetter)
    if (news) this.#events.publish(new DeadLetter(message, recipient.path, reason))
    if (this.#logger.enabled("warn")) this.#log(message, recipient, reason)
  }

  #log(message: unknown, recipient: { readonly path: ActorPath }, reason: DeadLetterReason): void {
    const now = this.#clock.monotonicMs()
    if (now >= this.#quietUntil) this.#logged = 0
    else if (this.#logged >= LOGGED_A_MINUTE) return
    this.#logged += 1
    if (this.#logged === 1 || this.#logged === LOGGED_A_MINUTE) this.#quietUntil = now + 60_000
    this.#logger.log("warn", "a message went to dead letters", {
      recipient: recipient.path.toString(),
      reason,
      message: kindOf(message),
      deadLetters: this.#count,
      ...(this.#logged === LOGGED_A_MINUTE ? { note: "no more of these for a minute" } : {}),
    })
  }
}

const LOGGED_A_MINUTE = 10

function kindOf(message: unknown): string {
  if (typeof message !== "object" || message === null) return typeof message
  // Its own fields are content.
  const name: unknown = Object.getPrototypeOf(message)?.constructor?.name
  return typeof name === "string" ? name : "object"
}

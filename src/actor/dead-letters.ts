import type { ActorPath } from "../address/actor-path.js"
import { isInstance } from "../errors/thrown.js"
import type { Clock } from "../ports/clock.js"
import type { LogFields, Logger } from "../ports/logger.js"
import type { EventStream } from "./event-stream.js"
import { LimitedLogger } from "./limited-logger.js"

export type DeadLetterReason =
  /** The actor has stopped, or is about to. */
  | "stopped"
  /** No actor is at the path. */
  | "unknown"
  /** The incarnation that was meant has stopped; another may have its name by now. */
  | "old-incarnation"
  /** Its mailbox is full. */
  | "mailbox-full"
  /** As much as may wait of what its sender's node has sent waits already (`inboundBuffer`). */
  | "inbound-full"
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
  /** A one-way call whose time was up before it was run: its actor was busy, or could not be found. */
  | "expired"

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

/** What a dead letter holds as its message that was a one-way call to a virtual actor. */
export class UndeliveredCall {
  /** The actor's id. */
  readonly actor: string
  readonly method: string
  readonly args: readonly unknown[]
  /** What the caller of a call that is not one-way would have got. */
  readonly error: unknown

  constructor(actor: string, method: string, args: readonly unknown[], error: unknown) {
    this.actor = actor
    this.method = method
    this.args = args
    this.error = error
  }
}

/**
 * Where messages end that nobody will handle: counted, told to whoever listens to `DeadLetter`, and logged, a
 * few a minute, so that a flood of them does not become a flood of lines. The log has the kind of a message,
 * never its content.
 */
export class DeadLetters {
  readonly #events: EventStream
  readonly #logger: LimitedLogger
  #count = 0

  constructor(events: EventStream, logger: Logger, clock: Clock) {
    this.#events = events
    this.#logger = new LimitedLogger(logger, clock)
  }

  /** How many there have been. */
  get count(): number {
    return this.#count
  }

  add(message: unknown, recipient: { readonly path: ActorPath }, reason: DeadLetterReason): void {
    this.#count += 1
    // A dead letter that could not be delivered either is not told again: the two would go on forever.
    const news = !isInstance(message, DeadLetter) && this.#events.has(DeadLetter)
    if (news) this.#events.publish(new DeadLetter(message, recipient.path, reason))
    this.#logger.log("warn", "a message went to dead letters", () => ({
      ...partiesOf(message, recipient),
      reason,
      deadLetters: this.#count,
    }))
  }
}

/** Who it was for, and what it was; of a call the method, and why it came to nothing. */
function partiesOf(message: unknown, recipient: { readonly path: ActorPath }): LogFields {
  if (!isInstance(message, UndeliveredCall)) {
    return { recipient: recipient.path.toString(), message: kindOf(message) }
  }
  const { actor, method, error } = message
  return { actor, method, cause: error instanceof Error ? error.message : undefined }
}

function kindOf(message: unknown): string {
  if (typeof message !== "object" || message === null) return typeof message
  try {
    // Its own fields are content.
    const name: unknown = Object.getPrototypeOf(message)?.constructor?.name
    return typeof name === "string" ? name : "object"
  } catch {
    return "object"
  }
}

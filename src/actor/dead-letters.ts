import type { ActorPath } from "../address/actor-path.js"
import { isInstance } from "../errors/thrown.js"
import type { Clock, WallMs } from "../ports/clock.js"
import type { LogFields, Logger } from "../ports/logger.js"
import type { EventStream } from "./event-stream.js"
import { LimitedLogger } from "./limited-logger.js"
import { Recent } from "./recent.js"

/** Why a message went to dead letters. */
export type DeadLetterReason =
  /** The actor has stopped or is stopping. */
  | "stopped"
  /** There is no actor at the path. */
  | "unknown"
  /** The incarnation in the path has stopped; another actor may have its name. */
  | "old-incarnation"
  /** The actor's mailbox is full. */
  | "mailbox-full"
  /** The limit of waiting messages from the sender's node is reached (`inboundBuffer`). */
  | "inbound-full"
  /** The behavior returned `unhandled`. */
  | "unhandled"
  /** An answer to an ask that has ended: answered, timed out, cancelled or failed. */
  | "ask-ended"
  /** The message cannot be serialized, or is too large. */
  | "not-sendable"
  /** The message came from another node and contains something that this node does not know. */
  | "unreadable"
  /** The target's node is not connected, and the limit of deferred messages is reached. */
  | "deferred-full"
  /** The target's node reads too slowly, and the outbound buffer is full. */
  | "outbound-full"
  /** The target's node is quarantined. */
  | "quarantined"
  /** The target's node could not be reached in time, or is gone. */
  | "unreachable"
  /** A one-way call timed out before it was run: its actor was busy, or could not be located. */
  | "expired"
  /** Too many messages wait for the homes of their shards, or for their entities. */
  | "shard-buffer-full"
  /** The node that the message was sent to does not host the shard of the entity any more. */
  | "not-here"

/** A message that will not be handled. Published on the event stream. */
export class DeadLetter {
  /** The message; for a one-way call an `UndeliveredCall`. */
  readonly message: unknown
  /** The path that the message was sent to. */
  readonly recipient: ActorPath
  /** Why the message was not handled. */
  readonly reason: DeadLetterReason

  constructor(message: unknown, recipient: ActorPath, reason: DeadLetterReason) {
    this.message = message
    this.recipient = recipient
    this.reason = reason
  }
}

/** The message of a dead letter that was a one-way call to a virtual actor. */
export class UndeliveredCall {
  /** The actor's id. */
  readonly actor: string
  /** The name of the method. */
  readonly method: string
  /** The arguments of the call. */
  readonly args: readonly unknown[]
  /** The error that a call with an answer would have failed with. */
  readonly error: unknown

  constructor(actor: string, method: string, args: readonly unknown[], error: unknown) {
    this.actor = actor
    this.method = method
    this.args = args
    this.error = error
  }
}

/**
 * Receives messages that will not be handled. Each is counted and published as a `DeadLetter`; only a few per
 * minute are logged, so that a flood of messages does not become a flood of log lines. The log has the kind
 * of a message, never its content.
 */
export class DeadLetters {
  readonly #events: EventStream
  readonly #logger: LimitedLogger
  readonly #clock: Clock
  /** The latest, for people to look at: where each was to go and its kind, but not its content. */
  readonly latest = new Recent<DeadLetterSeen>(MOST_KEPT)

  constructor(events: EventStream, logger: Logger, clock: Clock) {
    this.#events = events
    this.#clock = clock
    this.#logger = new LimitedLogger(logger, clock)
  }

  /** The number of dead letters so far. */
  get count(): number {
    return this.latest.total
  }

  add(message: unknown, recipient: { readonly path: ActorPath }, reason: DeadLetterReason): void {
    const isCall = isInstance(message, UndeliveredCall)
    const to = isCall ? message.actor : recipient.path
    this.latest.add({ at: this.#clock.wallMs(), to, kind: isCall ? message.method : kindOf(message), reason })
    // An undeliverable `DeadLetter` is not published again: that would never end.
    const isPublished = !isInstance(message, DeadLetter) && this.#events.has(DeadLetter)
    if (isPublished) this.#events.publish(new DeadLetter(message, recipient.path, reason))
    this.#logger.log("warn", "a message went to dead letters", () => ({
      ...partiesOf(message, recipient),
      reason,
      deadLetters: this.count,
    }))
  }
}

/** A dead letter without its message. */
interface DeadLetterSeen {
  readonly at: WallMs
  /** The recipient: a path, or of a call the id of the actor. */
  readonly to: ActorPath | string
  /** The method of a call; of another message its class. */
  readonly kind: string
  readonly reason: DeadLetterReason
}

const MOST_KEPT = 50

/** Returns the recipient and the kind of the message; for a call its method, and why it failed. */
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
    // An own `constructor` field would be content, so the prototype's is used.
    const name: unknown = Object.getPrototypeOf(message)?.constructor?.name
    return typeof name === "string" ? name : "object"
  } catch {
    return "object"
  }
}

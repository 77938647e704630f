import type { EventStream } from "../actor/event-stream.js"
import {
  type CallError,
  InvalidMessageError,
  NodeUnreachableError,
  OverloadedError,
  QuarantinedError,
} from "../errors/call-errors.js"
import type { Logger } from "../ports/logger.js"
import { InvalidAssociation } from "./association-events.js"
import type { MessageRefusal } from "./association-protocol.js"
import type { MessageCodec } from "./message-codec.js"
import type { QueuedMessage } from "./queued-message.js"
import type { RemoteRef } from "./remote-ref.js"
import type { RemoteReply } from "./remote-reply.js"
import type { Session } from "./session.js"

/**
 * Ends messages to another node that are not sent: a question fails with the reason, any other message
 * becomes a dead letter.
 */
export class UnsentMessages {
  readonly #authority: string
  readonly #options: UnsentOptions

  constructor(authority: string, options: UnsentOptions) {
    this.#authority = authority
    this.#options = options
  }

  /** Ends a refused message. `detail` is the reason of a quarantine. */
  refuse({ to, payload, reply, isRepeated }: QueuedMessage, because: MessageRefusal, detail: string): void {
    const { events, codec } = this.#options
    if (because === "quarantined") events.publish(new InvalidAssociation(this.#authority, to.path, detail))
    if (isRepeated) return
    if (reply === undefined) codec.deadLetters.add(codec.decoded(payload), to, because)
    else reply.fail(this.#errorFor(to.path.toString(), because, detail))
  }

  /** Ends a queued message that is larger than the node that has now connected accepts. */
  tooLarge({ to, payload, reply, session }: QueuedMessage, { maxMessageBytes }: Session): void {
    const { codec } = this.#options
    const error = new InvalidMessageError(
      `message is larger than maxMessageBytes of ${this.#authority} (${payload.length} bytes, limit ${maxMessageBytes})`,
    )
    if (reply !== undefined) reply.fail(error)
    else if (session !== undefined) {
      session.peerQuestions.fail(to as RemoteReply, new InvalidMessageError(error.message, "unknown"))
    } else codec.deadLetters.add(codec.decoded(payload), to, "not-sendable")
  }

  /** Ends a message that cannot be encoded. Rethrows any other error. */
  unsendable(ref: RemoteRef<never>, message: unknown, error: unknown): void {
    if (!(error instanceof InvalidMessageError)) throw error
    this.#options.limited.log("error", "cannot encode a message", { to: ref.path.toString(), error })
    this.#options.codec.deadLetters.add(message, ref, "not-sendable")
  }

  #errorFor(target: string, because: MessageRefusal, detail: string): CallError {
    const { deferredCapacity, outboundBytes } = this.#options
    switch (because) {
      case "quarantined":
        return new QuarantinedError(this.#authority, detail)
      case "unreachable":
        return new NodeUnreachableError(this.#authority, "not-delivered", "could not connect to it in time")
      case "deferred-full":
        return new OverloadedError(target, deferredCapacity, "messages waiting for its node", WAY)
      case "outbound-full":
        return new OverloadedError(target, outboundBytes, "bytes waiting for its node", WAY)
    }
  }
}

interface UnsentOptions {
  /** Rate-limited, for entries that peers can cause at will. */
  readonly limited: Pick<Logger, "log">
  readonly events: EventStream
  readonly codec: MessageCodec
  readonly deferredCapacity: number
  readonly outboundBytes: number
}

const WAY = { of: "node" } as const

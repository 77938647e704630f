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
import type { ParcelRefusal } from "./association-protocol.js"
import type { MessageCodec } from "./message-codec.js"
import type { MessageParcel } from "./message-parcel.js"
import type { RemoteRef } from "./remote-ref.js"
import type { RemoteReply } from "./remote-reply.js"
import type { Session } from "./session.js"

/**
 * Where messages to another node end that are not sent: a request fails with the reason, and anything else
 * becomes a dead letter.
 */
export class UnsentMessages {
  readonly #authority: string
  readonly #options: UnsentOptions

  constructor(authority: string, options: UnsentOptions) {
    this.#authority = authority
    this.#options = options
  }

  /** `detail` is the reason of the quarantine, where there is one. */
  refuse({ to, payload, reply }: MessageParcel, because: ParcelRefusal, detail: string): void {
    const { events, codec } = this.#options
    if (because === "quarantined") events.publish(new InvalidAssociation(this.#authority, to.path, detail))
    if (reply === undefined) codec.deadLetters.add(codec.decoded(payload), to, because)
    else reply.fail(this.#errorFor(to.path.toString(), because, detail))
  }

  /** The message waited, and the node that then connected takes smaller ones. */
  tooLarge({ to, payload, reply, session }: MessageParcel, { maxMessageBytes }: Session): void {
    const { codec } = this.#options
    const error = new InvalidMessageError(
      `the message has ${payload.length} bytes, and ${this.#authority} takes ${maxMessageBytes}`,
    )
    if (reply !== undefined) reply.fail(error)
    else if (session !== undefined) {
      session.peerQuestions.fail(to as RemoteReply, new InvalidMessageError(error.message, "unknown"))
    } else codec.deadLetters.add(codec.decoded(payload), to, "not-sendable")
  }

  /** The message cannot be encoded. Throws what is another problem than that. */
  unsendable(ref: RemoteRef<never>, message: unknown, error: unknown): void {
    if (!(error instanceof InvalidMessageError)) throw error
    this.#options.limited.log("error", "a message cannot be sent", { to: ref.path.toString(), error })
    this.#options.codec.deadLetters.add(message, ref, "not-sendable")
  }

  #errorFor(target: string, because: ParcelRefusal, detail: string): CallError {
    const { deferredCapacity, outboundBytes } = this.#options
    switch (because) {
      case "quarantined":
        return new QuarantinedError(this.#authority, detail)
      case "unreachable":
        return new NodeUnreachableError(
          this.#authority,
          "not-delivered",
          "there was no connection with it in time",
        )
      case "deferred-full":
        return new OverloadedError(target, deferredCapacity, "messages waiting for its node", WAY)
      case "outbound-full":
        return new OverloadedError(target, outboundBytes, "bytes waiting for its node", WAY)
    }
  }
}

interface UnsentOptions {
  /** For what others can cause as often as they like. */
  readonly limited: Pick<Logger, "log">
  readonly events: EventStream
  readonly codec: MessageCodec
  readonly deferredCapacity: number
  readonly outboundBytes: number
}

const WAY = { of: "node" } as const

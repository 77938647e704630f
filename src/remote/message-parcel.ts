import type { ReplyRef } from "../actor/reply-ref.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Extras } from "../serialization/envelope.js"
import type { Parcel } from "./deferred-queue.js"
import type { RemoteRef } from "./remote-ref.js"
import type { RemoteReply } from "./remote-reply.js"
import type { Session } from "./session.js"

/** A message that waits to be sent, as bytes: what it was when it was told is what arrives. */
export class MessageParcel implements Parcel {
  readonly to: RemoteRef<never> | RemoteReply
  readonly payload: Buffer
  /** Who waits for the answer, if it is a question. */
  readonly reply: ReplyRef | undefined
  readonly at: MonotonicMs
  /** The connection that it answers on, if it is an answer. */
  readonly session: Session | undefined
  readonly extras: Extras | undefined
  waiting = false

  constructor(
    to: RemoteRef<never> | RemoteReply,
    payload: Buffer,
    reply: ReplyRef | undefined,
    at: MonotonicMs,
    { session, extras }: { readonly session?: Session; readonly extras?: Extras | undefined } = {},
  ) {
    this.to = to
    this.payload = payload
    this.reply = reply
    this.at = at
    this.session = session
    this.extras = extras
  }

  get bytes(): number {
    return this.payload.length + PARCEL_BYTES
  }
}

/** What a parcel costs beside its payload. */
const PARCEL_BYTES = 256

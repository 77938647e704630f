import type { ReplyRef } from "../actor/reply-ref.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Extras } from "../serialization/envelope.js"
import type { Queueable } from "./deferred-queue.js"
import type { RemoteRef } from "./remote-ref.js"
import type { RemoteReply } from "./remote-reply.js"
import type { Session } from "./session.js"

/** A message that waits to be sent, encoded when it was told: later changes to it have no effect. */
export class QueuedMessage implements Queueable {
  readonly to: RemoteRef<never> | RemoteReply
  readonly payload: Buffer
  /** The ref for the answer, if the message is a question. */
  readonly reply: ReplyRef | undefined
  readonly at: MonotonicMs
  /** The connection that the question came by, if the message is an answer. */
  readonly session: Session | undefined
  readonly extras: Extras | undefined
  /** Whether the sender says it again until it is answered, so that nobody misses it. */
  readonly isRepeated: boolean
  isWaiting = false

  constructor(
    to: RemoteRef<never> | RemoteReply,
    payload: Buffer,
    reply: ReplyRef | undefined,
    at: MonotonicMs,
    { session, extras, isRepeated = false }: QueuedOptions = {},
  ) {
    this.to = to
    this.payload = payload
    this.reply = reply
    this.at = at
    this.session = session
    this.extras = extras
    this.isRepeated = isRepeated
  }

  get bytes(): number {
    return this.payload.length + OVERHEAD_BYTES
  }
}

interface QueuedOptions {
  readonly session?: Session
  readonly extras?: Extras | undefined
  readonly isRepeated?: boolean
}

/** The cost of a queued message beside its payload. */
const OVERHEAD_BYTES = 256

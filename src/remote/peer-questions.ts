import type { DeadLetterReason } from "../actor/dead-letters.js"
import type { Deadline } from "../actor/deadlines.js"
import type { InternalRef } from "../actor/internal-ref.js"
import type { ActorPath } from "../address/actor-path.js"
import { assert } from "../errors/assert.js"
import { type CallError, InvalidMessageError, OverloadedError } from "../errors/call-errors.js"
import { ANSWER, Envelope, FAILURE, writeEnvelope } from "../serialization/envelope.js"
import { sendError } from "./error-frame.js"
import type { FrameConnection } from "./frame-connection.js"
import { ENVELOPE, MAX_OPEN_QUESTIONS } from "./frames.js"
import type { MessageCodec } from "./message-codec.js"
import type { RemoteReply } from "./remote-reply.js"
import type { Session, SessionOwner } from "./session.js"

/**
 * The unanswered questions that a peer has sent over one connection, and their answers. They end with the
 * connection; a later answer is not sent.
 */
export class PeerQuestions {
  /** The number of questions that were received, and to which no answer was written. */
  owed = 0
  readonly #session: Session
  readonly #frames: FrameConnection
  readonly #codec: MessageCodec
  readonly #owner: SessionOwner
  readonly #envelope = new Envelope()
  /** The head of the list. */
  #first: RemoteReply | undefined
  #size = 0

  constructor(session: Session, frames: FrameConnection, codec: MessageCodec, owner: SessionOwner) {
    this.#session = session
    this.#frames = frames
    this.#codec = codec
    this.#owner = owner
  }

  /** Returns why one more question to `target` is refused; undefined below the limit. */
  refusal(target: InternalRef<never>): CallError | undefined {
    if (this.#size < MAX_OPEN_QUESTIONS) return undefined
    return new OverloadedError(target.toString(), MAX_OPEN_QUESTIONS, "open questions of one node")
  }

  /** Whether every question that was received is answered, or over for the peer. */
  get areAnswered(): boolean {
    return this.owed === 0
  }

  /** Called when a question has expired here. The peer may be late in noticing that, but not for long. */
  expired(): void {
    this.#codec.deadlines.add(new Overdue(this), LATE_MS)
  }

  add(reply: RemoteReply): void {
    this.#size += 1
    this.#first = reply.enter(this.#first)
    if (reply.timeoutMs !== coarsened.timeLeftMs) coarsen(reply.timeoutMs)
    this.#codec.deadlines.add(reply, coarsened.ms)
  }

  over(reply: RemoteReply): void {
    if (this.#first === reply) this.#first = reply.after
    if (reply.leaveList()) this.#size -= 1
    assert(this.#size >= 0, "more questions ended than were added")
  }

  abandonAll(): void {
    while (this.#first !== undefined) this.#first.abandon()
  }

  /** Returns the path by which a third node may answer. */
  pathOf(correlation: number): ActorPath {
    return this.#codec.questionPath(this.#session.peer, correlation)
  }

  /** Sends an answer. Like `fail`, it never throws: the caller is an actor, or a promise without handlers. */
  answer(reply: RemoteReply, answer: unknown): DeadLetterReason | undefined {
    if (!this.#frames.isOpen) return "unreachable"
    if (this.#frames.writer.hasOpenFrame) return "not-sendable"
    try {
      return this.#answer(reply, answer)
    } catch (error) {
      this.#frames.broke(error)
      return "not-sendable"
    }
  }

  /** Sends an answer that was encoded earlier and queued. */
  sendEncoded(correlation: number, payload: Uint8Array): void {
    const frame = this.#open(correlation, ANSWER)
    this.#frames.writer.raw(payload)
    this.#frames.closeFrame(frame)
    this.owed -= 1
  }

  fail(reply: RemoteReply, error: Error): void {
    if (!this.#frames.isOpen || this.#frames.writer.hasOpenFrame) return
    try {
      this.#sendFailure(reply, error)
    } catch (thrown) {
      this.#frames.broke(thrown)
    }
  }

  undelivered(message: unknown, reply: RemoteReply, reason: DeadLetterReason): void {
    this.#codec.deadLetters.add(message, reply, reason)
  }

  #answer(reply: RemoteReply, answer: unknown): DeadLetterReason | undefined {
    if (this.#owner.hasToQueue(this.#session)) return this.#queue(reply, answer)
    const frame = this.#open(reply.correlation, ANSWER)
    try {
      this.#codec.encode(answer, this.#frames.writer, undefined, this.#session.maxMessageBytes)
    } catch (error) {
      this.#frames.writer.takeBack(frame)
      this.#failUnsendable(reply, error)
      return undefined
    }
    this.#frames.closeFrame(frame)
    this.owed -= 1
    return undefined
  }

  #queue(reply: RemoteReply, answer: unknown): DeadLetterReason | undefined {
    let payload: Buffer
    try {
      payload = this.#codec.encoded(answer, undefined)
    } catch (error) {
      this.#failUnsendable(reply, error)
      return undefined
    }
    return this.#owner.queueAnswer(this.#session, reply, payload)
  }

  /** Fails the question because its answer cannot be encoded. Logged too, since the fault is on this node. */
  #failUnsendable(reply: RemoteReply, error: unknown): void {
    if (!(error instanceof InvalidMessageError)) throw error
    this.#codec.logger.log("error", "cannot encode an answer", { to: this.#session.node.toString(), error })
    this.fail(reply, new InvalidMessageError(`the answer cannot be sent: ${error.message}`, "unknown"))
  }

  #sendFailure({ correlation }: RemoteReply, error: Error): void {
    const channel = { frames: this.#frames, codec: this.#codec, maxBytes: this.#session.maxMessageBytes }
    sendError(channel, () => this.#open(correlation, FAILURE), error)
    this.owed -= 1
  }

  #open(correlation: number, direction: typeof ANSWER | typeof FAILURE): number {
    const { writer } = this.#frames
    const frame = writer.open(ENVELOPE)
    const envelope = this.#envelope
    envelope.direction = direction
    envelope.correlation = correlation
    writeEnvelope(writer, envelope)
    return frame
  }
}

/** A question that expired here, until it has certainly ended where it was asked. */
class Overdue implements Deadline {
  previous: Deadline["previous"] = undefined
  next: Deadline["next"] = undefined
  readonly #questions: PeerQuestions

  constructor(questions: PeerQuestions) {
    this.#questions = questions
  }

  expire(): void {
    this.#questions.owed -= 1
  }

  abandon(): void {}
}

/** A peer that is late by more than this has been silent for so long that its connection is closed. */
const LATE_MS = 60_000

/**
 * Rounds up the time that is left. The asker enforces its deadline; here the time only says when to forget
 * the question, so few different values suffice.
 */
function coarsen(timeLeftMs: number): void {
  const seconds = Math.min(Math.max(timeLeftMs / 1_000, 1), MOST_SECONDS)
  const quarter = 2 ** (Math.floor(Math.log2(seconds)) - 2)
  coarsened.timeLeftMs = timeLeftMs
  coarsened.ms = Math.ceil(seconds / quarter) * quarter * 1_000
}

/** The last result: most questions have the same time. */
const coarsened = { timeLeftMs: Number.NaN, ms: 0 }

/** A day and a half; a question that takes longer is not answered. */
const MOST_SECONDS = 2 ** 17

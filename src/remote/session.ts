import type { DeadLetterReason } from "../actor/dead-letters.js"
import type { InternalRef } from "../actor/internal-ref.js"
import type { ReplyRef } from "../actor/reply-ref.js"
import type { ActorPath } from "../address/actor-path.js"
import type { NodeId } from "../address/node-id.js"
import { InvalidMessageError, NodeUnreachableError, OverloadedError } from "../errors/call-errors.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import {
  Envelope,
  type Extras,
  FAILURE,
  ONE_WAY,
  REQUEST,
  readEnvelope,
  writeEnvelope,
} from "../serialization/envelope.js"
import type { InputBytes } from "../serialization/input-bytes.js"
import { sendError } from "./error-frame.js"
import type { FrameConnection } from "./frame-connection.js"
import {
  ENVELOPE,
  GOODBYE,
  MAX_NAME_BYTES,
  MAX_WATCHES,
  MEMBERSHIP,
  NAME,
  TERMINATED,
  UNWATCH,
  WATCH,
  WATCHING,
} from "./frames.js"
import type { Peer } from "./handshake.js"
import { InboundFlow } from "./inbound-flow.js"
import type { MessageCodec } from "./message-codec.js"
import { ReceivedNames, SentNames } from "./names.js"
import { PeerQuestions } from "./peer-questions.js"
import { Questions } from "./questions.js"
import type { RemoteRef } from "./remote-ref.js"
import { RemoteReply } from "./remote-reply.js"
import { WatchedHere } from "./watched-here.js"

/**
 * The frames of one connection after its handshake: messages, questions and their answers, and watches. All
 * of these end with the connection. A question that was sent and not answered fails as `unknown`, since it
 * may have arrived; the answer to a question of the peer is not sent.
 *
 * Everything is written in the order of the calls, and read in that order.
 */
export class Session {
  readonly peer: Peer
  /** The questions of the peer, and their answers. */
  readonly peerQuestions: PeerQuestions
  readonly #frames: FrameConnection
  readonly #codec: MessageCodec
  readonly #owner: SessionOwner
  readonly #sent = new SentNames()
  readonly #received = new ReceivedNames()
  /** The unanswered questions of this node. */
  readonly #questions = new Questions()
  /** The actors of this node that the peer watches. */
  readonly #watched = new WatchedHere((number, cause) => this.#sendTerminated(number, cause))
  readonly #envelope = new Envelope()
  readonly #flow: InboundFlow
  /** The largest message that both sides accept. */
  readonly maxMessageBytes: number

  constructor(peer: Peer, frames: FrameConnection, codec: MessageCodec, owner: SessionOwner) {
    this.peer = peer
    this.#frames = frames
    this.#codec = codec
    this.#owner = owner
    this.#flow = new InboundFlow(frames, codec.inbound)
    this.maxMessageBytes = Math.min(codec.maxMessageBytes, peer.maxMessageBytes)
    this.peerQuestions = new PeerQuestions(this, frames, codec, owner)
  }

  get node(): NodeId {
    return this.peer.node
  }

  /** Whether a frame that is written now goes to the network. */
  get isWritable(): boolean {
    return this.#frames.isOpen && !this.#frames.isBlocked
  }

  question(correlation: number): ReplyRef | undefined {
    return this.#questions.get(correlation)
  }

  /** Sends a message. Throws an `InvalidMessageError`, and then sends nothing. */
  tell(ref: RemoteRef<never>, message: unknown): void {
    this.#send(ONE_WAY, ref, 0, 0, message, undefined)
  }

  /** As `tell`; `reply` receives the answer or the failure. */
  request(
    ref: RemoteRef<never>,
    reply: ReplyRef,
    timeLeftMs: number,
    message: unknown,
    extras?: Extras,
  ): void {
    if (extras !== undefined) this.#envelope.carry(extras)
    try {
      this.#send(REQUEST, ref, reply.correlation, timeLeftMs, message, reply)
    } finally {
      if (extras !== undefined) this.#envelope.carry(undefined)
    }
    this.#questions.add(reply)
  }

  /** As `tell` and `request`, for an encoded message. */
  sendEncoded(
    ref: RemoteRef<never>,
    payload: Uint8Array,
    reply: ReplyRef | undefined,
    timeLeftMs: number,
    extras?: Extras,
  ): void {
    if (extras !== undefined) this.#envelope.carry(extras)
    const frame = this.#openMessage(
      reply === undefined ? ONE_WAY : REQUEST,
      ref,
      reply?.correlation ?? 0,
      timeLeftMs,
    )
    if (extras !== undefined) this.#envelope.carry(undefined)
    this.#frames.writer.raw(payload)
    this.#frames.closeFrame(frame)
    if (reply !== undefined) this.#questions.add(reply)
  }

  /** Drops a question. False if it was not in flight. */
  withdraw(correlation: number): boolean {
    return this.#questions.delete(correlation)
  }

  watch(number: number, path: ActorPath): void {
    const { writer } = this.#frames
    const frame = writer.open(WATCH)
    writer.varint(number)
    writer.text(path.toString())
    this.#frames.closeFrame(frame)
  }

  unwatch(number: number): void {
    const { writer } = this.#frames
    const frame = writer.open(UNWATCH)
    writer.varint(number)
    this.#frames.closeFrame(frame)
  }

  /** Sends what membership says. False if the connection takes nothing at the moment. */
  sendMembership(payload: Uint8Array): boolean {
    if (!this.isWritable || this.#frames.writer.hasOpenFrame) return false
    this.#frames.writer.frame(MEMBERSHIP, payload)
    this.#frames.written()
    return true
  }

  /** Sends GOODBYE, which says whether all questions were answered, and closes after it was sent. */
  leave(): void {
    this.#frames.writer.frame(GOODBYE, Buffer.of(this.peerQuestions.areAnswered ? 1 : 0))
    this.#frames.finish("stopping")
  }

  close(because: Parameters<FrameConnection["close"]>[0]): void {
    this.#frames.close(because)
  }

  probe(answered: (isAlive: boolean) => void): void {
    this.#frames.probe(answered)
  }

  /**
   * Called when the connection has closed. A peer that has answered all it received has not received the
   * questions that are unanswered.
   */
  ended(because: string): void {
    this.#watched.clear()
    this.peerQuestions.abandonAll()
    const wasReceived = !this.#frames.hasAnsweredAll
    const problem = wasReceived
      ? `the connection was lost before the answer arrived (${because})`
      : "the node stopped before it received the message"
    for (const reply of this.#questions.takeAll()) {
      reply.correlation = 0
      const delivery = wasReceived ? "unknown" : "not-delivered"
      reply.fail(new NodeUnreachableError(this.node.address, delivery, problem))
    }
  }

  receive(kind: number, input: InputBytes): void {
    const bytes = input.left
    const since = this.#flow.readingTurn.begin(bytes)
    this.#receive(kind, input)
    this.#flow.read(bytes, since)
  }

  #receive(kind: number, input: InputBytes): void {
    switch (kind) {
      case ENVELOPE:
        return this.#receiveMessage(input)
      case TERMINATED:
        return this.#receiveTerminated(input)
      case NAME:
        return this.#receiveName(input.varint(), lastText(input))
      case WATCH:
        return this.#receiveWatch(input.varint(), lastText(input))
      case UNWATCH:
        return this.#watched.remove(lastVarint(input))
      case MEMBERSHIP:
        return this.#owner.membership(this, Buffer.from(input.raw(input.left)))
      case WATCHING:
        return this.#owner.watching(this, input.varint(), lastVarint(input))
      default:
        throw new MalformedBytesError(`unknown frame kind ${kind}`)
    }
  }

  #send(
    direction: typeof ONE_WAY | typeof REQUEST,
    ref: RemoteRef<never>,
    correlation: number,
    timeLeftMs: number,
    message: unknown,
    reply: ReplyRef | undefined,
  ): void {
    const frame = this.#openMessage(direction, ref, correlation, timeLeftMs)
    try {
      this.#codec.encode(message, this.#frames.writer, reply, this.maxMessageBytes)
    } catch (error) {
      this.#frames.writer.takeBack(frame)
      throw error
    }
    this.#frames.closeFrame(frame)
  }

  #openMessage(
    direction: typeof ONE_WAY | typeof REQUEST,
    ref: RemoteRef<never>,
    correlation: number,
    timeLeftMs: number,
  ): number {
    const { writer } = this.#frames
    if (!this.#sent.has(ref)) {
      const named = writer.open(NAME)
      writer.varint(this.#sent.add(ref))
      writer.text(ref.path.toString())
      writer.close(named)
    }
    const frame = writer.open(ENVELOPE)
    const envelope = this.#envelope
    envelope.direction = direction
    envelope.correlation = correlation
    envelope.target = ref.nameNumber
    envelope.timeLeftMs = timeLeftMs
    writeEnvelope(writer, envelope)
    return frame
  }

  #receiveName(number: number, name: string): void {
    this.#received.set(number, this.#codec.target(name))
  }

  #receiveMessage(input: InputBytes): void {
    const envelope = received
    readEnvelope(input, envelope)
    const { direction, correlation } = envelope
    if (direction === ONE_WAY) {
      const ref = this.#received.get(envelope.target)
      const message = this.#decode(input, ref, undefined)
      if (message !== UNREADABLE) ref.receive(message as never, this.#codec.weight, this.#flow.budget)
    } else if (direction === REQUEST) this.#receiveRequest(input, envelope)
    else this.#receiveAnswer(input, correlation, direction === FAILURE)
  }

  #receiveRequest(input: InputBytes, envelope: Envelope): void {
    this.peerQuestions.owed += 1
    const target = this.#received.get(envelope.target).current()
    const reply = new RemoteReply(this.peerQuestions, envelope.correlation, target, envelope.timeLeftMs)
    const message = this.#decode(input, target, reply)
    if (message === UNREADABLE) return
    const { weight } = this.#codec
    const refused =
      this.peerQuestions.refusal(target) ??
      target.receiveRequest(reply, message as never, envelope, weight, this.#flow.budget)
    if (refused !== undefined) return reply.fail(refused)
    if (!reply.isOver) this.peerQuestions.add(reply)
  }

  /** A malformed answer leaves the question in the table; the question fails when the connection closes. */
  #receiveAnswer(input: InputBytes, correlation: number, isFailure: boolean): void {
    const reply = this.#questions.get(correlation)
    let answer: unknown
    try {
      answer = this.#codec.decode(input, undefined)
    } catch (error) {
      if (!(error instanceof InvalidMessageError)) throw error
      if (reply !== undefined) this.#drop(reply).fail(new InvalidMessageError(error.message, "unknown"))
      return
    }
    if (reply === undefined) this.#codec.lateAnswer(answer, this.peer, correlation)
    else if (!isFailure) this.#drop(reply).tell(answer)
    else if (answer instanceof Error) this.#drop(reply).fail(answer)
    else throw new MalformedBytesError("a FAILURE must carry an error")
  }

  /** Drops an answered question. Correlation 0 tells the asker that there is nothing to withdraw. */
  #drop(reply: ReplyRef): ReplyRef {
    this.#questions.delete(reply.correlation)
    reply.correlation = 0
    return reply
  }

  /** A type that this node does not know, such as one of a newer version, affects that message alone. */
  #decode(input: InputBytes, recipient: InternalRef<never>, reply: RemoteReply | undefined): unknown {
    try {
      return this.#codec.decode(input, reply)
    } catch (error) {
      if (!(error instanceof InvalidMessageError)) throw error
      if (reply !== undefined) reply.fail(error)
      else this.#codec.deadLetters.add(error, recipient, "unreadable")
      return UNREADABLE
    }
  }

  /** Sends WATCHING before the TERMINATED of an actor that is already gone or of a watch over the limit. */
  #receiveWatch(number: number, name: string): void {
    const ref = this.#codec.target(name).current()
    const { writer } = this.#frames
    const frame = writer.open(WATCHING)
    writer.varint(number)
    writer.varint(ref.path.uid ?? 0)
    this.#frames.closeFrame(frame)
    if (this.#watched.add(number, ref)) return
    this.#sendTerminated(
      number,
      new OverloadedError(ref.toString(), MAX_WATCHES, "watches of one node on this node"),
    )
  }

  #sendTerminated(number: number, cause: unknown): void {
    if (!this.#frames.isOpen) return
    const frames = this.#frames
    const open = () => {
      const frame = frames.writer.open(TERMINATED)
      frames.writer.varint(number)
      return frame
    }
    sendError({ frames, codec: this.#codec, maxBytes: this.maxMessageBytes }, open, cause)
  }

  #receiveTerminated(input: InputBytes): void {
    const number = input.varint()
    let cause: unknown
    try {
      cause = this.#codec.decode(input, undefined)
    } catch (error) {
      if (!(error instanceof InvalidMessageError)) throw error
      cause = error
    }
    this.#owner.terminated(number, cause)
  }
}

/** Receives the events of a session. */
export interface SessionOwner {
  /** Whether messages are queued or the network is blocked: answers must then queue behind them. */
  hasToQueue(session: Session): boolean
  queueAnswer(session: Session, reply: RemoteReply, payload: Buffer): DeadLetterReason | undefined
  /** Called when the peer has found the actor of watch `number`. A uid of 0 means none. */
  watching(session: Session, number: number, uid: number): void
  terminated(number: number, cause: unknown): void
  /** Called with what the membership of the peer says. */
  membership(session: Session, payload: Buffer): void
}

/** Reused for every message: each is handled before the next is read. */
const received = new Envelope()
const UNREADABLE = Symbol("unreadable")

function lastText(input: InputBytes): string {
  const text = input.text(MAX_NAME_BYTES)
  if (input.left > 0) throw tooMuch()
  return text
}

function lastVarint(input: InputBytes): number {
  const value = input.varint()
  if (input.left > 0) throw tooMuch()
  return value
}

function tooMuch(): MalformedBytesError {
  return new MalformedBytesError("a frame has trailing bytes")
}

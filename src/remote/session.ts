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
  NAME,
  TERMINATED,
  UNWATCH,
  WATCH,
  WATCHING,
} from "./frames.js"
import type { Peer } from "./handshake.js"
import { InboundFlow } from "./inbound-flow.js"
import type { MessageCodec } from "./message-codec.js"
import { HeardNames, SentNames } from "./names.js"
import { PeerQuestions } from "./peer-questions.js"
import { Questions } from "./questions.js"
import type { RemoteRef } from "./remote-ref.js"
import { RemoteReply } from "./remote-reply.js"
import { WatchedHere } from "./watched-here.js"

/**
 * What is said on one connection once both sides have agreed to talk: messages, questions and their answers,
 * and who watches whom. All of it ends with the connection. A question that was sent and not answered by then
 * ends as `unknown`, since nobody can say whether it arrived; the answer to one that came in is sent nowhere.
 *
 * Order: everything is written in the order in which it is handed over, and read in that order.
 */
export class Session {
  readonly peer: Peer
  /** The peer's questions, and the answers to them. */
  readonly peerQuestions: PeerQuestions
  readonly #frames: FrameConnection
  readonly #codec: MessageCodec
  readonly #owner: SessionOwner
  readonly #sent = new SentNames()
  readonly #heard = new HeardNames()
  /** Questions of ours, by correlation. */
  readonly #questions = new Questions()
  /** Actors of ours that the peer watches, by the peer's number for it. */
  readonly #watched = new WatchedHere((number, cause) => this.#sendTerminated(number, cause))
  readonly #envelope = new Envelope()
  readonly #flow: InboundFlow
  /** The largest message that both sides take. */
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

  /** Whether what is handed over now goes to the network and not to a queue. */
  get takesMore(): boolean {
    return this.#frames.isOpen && !this.#frames.isBlocked
  }

  question(correlation: number): ReplyRef | undefined {
    return this.#questions.get(correlation)
  }

  /** Throws an `InvalidMessageError`, and then nothing is sent. */
  tell(ref: RemoteRef<never>, message: unknown): void {
    this.#send(ONE_WAY, ref, 0, 0, message, undefined)
  }

  /** As `tell`; the answer, or what becomes of it, is told to `reply`. */
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

  /** As both, for a message that has been encoded. */
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

  /** Whether the question was under way. */
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

  /** Says goodbye, and closes once that is sent. */
  leave(): void {
    this.#frames.writer.frame(GOODBYE)
    this.#frames.finish("stopping")
  }

  close(because: Parameters<FrameConnection["close"]>[0]): void {
    this.#frames.close(because)
  }

  probe(answered: (isAlive: boolean) => void): void {
    this.#frames.probe(answered)
  }

  /** The connection is gone. */
  ended(because: string): void {
    this.#watched.clear()
    this.peerQuestions.abandonAll()
    for (const reply of this.#questions.takeAll()) {
      reply.correlation = 0
      const problem = `the connection was lost before the answer came (${because})`
      reply.fail(new NodeUnreachableError(this.node.address, "unknown", problem))
    }
  }

  receive(kind: number, input: InputBytes): void {
    const bytes = input.left
    const since = this.#flow.begin(bytes)
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
      case WATCHING:
        return this.#owner.watching(this, input.varint(), lastVarint(input))
      default:
        throw new MalformedBytesError(`there is no frame of kind ${kind}`)
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
    if (!this.#sent.knows(ref)) {
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
    this.#heard.set(number, this.#codec.target(name))
  }

  #receiveMessage(input: InputBytes): void {
    const envelope = received
    readEnvelope(input, envelope)
    const { direction, correlation } = envelope
    if (direction === ONE_WAY) {
      const ref = this.#heard.get(envelope.target)
      const message = this.#decode(input, ref, undefined)
      if (message !== UNREADABLE) ref.receive(message as never, this.#codec.weight, this.#flow.budget)
    } else if (direction === REQUEST) this.#receiveRequest(input, envelope)
    else this.#receiveAnswer(input, correlation, direction === FAILURE)
  }

  #receiveRequest(input: InputBytes, envelope: Envelope): void {
    const target = this.#heard.get(envelope.target).current()
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

  /** A malformed answer leaves the question in place: it fails when the connection is closed for it. */
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

  /** Drops a question that is answered. Without a correlation, its asker has nothing to withdraw. */
  #drop(reply: ReplyRef): ReplyRef {
    this.#questions.delete(reply.correlation)
    reply.correlation = 0
    return reply
  }

  /** What this node does not know, such as a type of a newer version, harms that message alone. */
  #decode(
    input: InputBytes,
    recipient: InternalRef<never>,
    reply: RemoteReply | undefined,
  ): unknown {
    try {
      return this.#codec.decode(input, reply)
    } catch (error) {
      if (!(error instanceof InvalidMessageError)) throw error
      if (reply !== undefined) reply.fail(error)
      else this.#codec.deadLetters.add(error, recipient, "unreadable")
      return UNREADABLE
    }
  }

  /**
   * The answer goes ahead of the end of an actor that is gone already, or of the refusal to watch one more.
   */
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
      new OverloadedError(ref.toString(), MAX_WATCHES, "watches of one node, on it and on others"),
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

/** What a session tells whoever holds it. */
export interface SessionOwner {
  /** Whether something waits to be sent, or the network takes no more: answers then queue behind it. */
  mustQueue(session: Session): boolean
  queueAnswer(session: Session, reply: RemoteReply, payload: Buffer): DeadLetterReason | undefined
  /** The peer has found the actor that this node watches under `number`. A uid of 0 is none. */
  watching(session: Session, number: number, uid: number): void
  terminated(number: number, cause: unknown): void
}

/** What was read last: a message is dealt with before the next one is looked at. */
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
  return new MalformedBytesError("a frame has more in it than it should")
}

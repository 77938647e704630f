import type { DeadLetters } from "../actor/dead-letters.js"
import type { Deadlines } from "../actor/deadlines.js"
import { InternalRef } from "../actor/internal-ref.js"
import type { ReplyRef } from "../actor/reply-ref.js"
import { ActorPath } from "../address/actor-path.js"
import { ActorPathError } from "../address/actor-path-error.js"
import { InvalidMessageError } from "../errors/call-errors.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { isInstance } from "../errors/thrown.js"
import type { Clock } from "../ports/clock.js"
import type { Codec, CodecFactory, RefTexts, TypeNames } from "../ports/codec.js"
import type { Logger } from "../ports/logger.js"
import type { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import { MAX_NAME_BYTES } from "./frames.js"
import type { Peer } from "./handshake.js"
import type { InboundTools } from "./inbound-flow.js"
import type { RemoteReply } from "./remote-reply.js"

/**
 * How this node puts messages into bytes and understands those of others: the codec, and what refs mean in
 * them.
 *
 * A ref travels as its path. The one exception is the ref for the answer within its own question: that is the
 * empty text, for the question's correlation says already where an answer goes. It is what makes an ask
 * cheap.
 */
export class MessageCodec implements RefTexts {
  readonly deadLetters: DeadLetters
  readonly deadlines: Deadlines
  readonly logger: Pick<Logger, "log">
  readonly maxMessageBytes: number
  readonly inbound: InboundTools
  /** About what the message takes in memory that was decoded last. */
  weight = 0
  readonly #options: MessageCodecOptions
  readonly #codec: Codec
  readonly #scratch = new OutputBuffer(4_096)
  /** Refs by their text: the same few come again and again. */
  readonly #refs = new Map<string, InternalRef<never>>()
  #isEncoding = false
  #question: ReplyRef | undefined
  #reply: RemoteReply | undefined

  constructor(options: MessageCodecOptions) {
    this.#options = options
    this.deadLetters = options.deadLetters
    this.deadlines = options.deadlines
    this.logger = options.logger
    this.maxMessageBytes = options.maxMessageBytes
    this.inbound = options.inbound
    this.#codec = options.codec({ refs: this, types: options.types, clock: options.clock })
  }

  get name(): string {
    return this.#codec.name
  }

  /**
   * Throws an `InvalidMessageError`. `question` is the reply that the message itself is to be answered by.
   */
  encode(
    value: unknown,
    out: OutputBuffer,
    question: ReplyRef | undefined,
    maxBytes = this.maxMessageBytes,
  ): void {
    if (this.#isEncoding) throw sentFromInside()
    this.#isEncoding = true
    this.#question = question
    out.maxBytes = maxBytes
    out.limitAt = out.at + maxBytes
    try {
      this.#codec.encode(value, out)
    } catch (error) {
      throw isInstance(error, InvalidMessageError) ? error : unsendable(error)
    } finally {
      this.#isEncoding = false
      this.#question = undefined
    }
  }

  /** As `encode`, into bytes of their own. */
  encoded(value: unknown, question: ReplyRef | undefined): Buffer {
    if (this.#isEncoding) throw sentFromInside()
    const out = this.#scratch
    out.at = 0
    this.encode(value, out, question)
    return Buffer.from(out.bytes.subarray(0, out.at))
  }

  /** `reply` answers the message that is read. Throws an `InvalidMessageError` or a `MalformedBytesError`. */
  decode(input: InputBytes, reply: RemoteReply | undefined): unknown {
    this.#reply = reply
    const { left } = input
    try {
      const value = this.#codec.decode(input.bytes, input.at, input.end)
      this.weight = weightOf(left + (this.#codec.overheadBytes ?? left * UNKNOWN_OVERHEAD))
      return value
    } catch (error) {
      if (isInstance(error, InvalidMessageError) || isInstance(error, MalformedBytesError)) throw error
      throw new InvalidMessageError("the codec threw on it", "not-delivered", { cause: error })
    } finally {
      this.#reply = undefined
    }
  }

  /** What was encoded here, as its recipient would have had it; for dead letters. */
  decoded(payload: Buffer): unknown {
    try {
      return this.#codec.decode(payload, 0, payload.length)
    } catch {
      return payload
    }
  }

  isRef(value: object): boolean {
    return value instanceof InternalRef
  }

  textOf(ref: object): string {
    if (ref === this.#question) return ""
    const text = (ref as InternalRef<never>).path.toString()
    if (text.length <= MAX_NAME_BYTES) return text
    throw new InvalidMessageError(`a ref in it has a path of more than ${MAX_NAME_BYTES} characters`)
  }

  refOf(text: string): object {
    if (text === "") {
      if (this.#reply === undefined)
        throw new MalformedBytesError("it says how to answer, and is no question")
      return this.#reply
    }
    if (text.length > MAX_NAME_BYTES) throw new MalformedBytesError("a ref with a path that is too long")
    const known = this.#refs.get(text)
    if (known !== undefined) return known
    const ref = this.#options.resolve(pathOf(text))
    if (this.#refs.size >= MAX_REFS) this.#refs.clear()
    this.#refs.set(text, ref)
    return ref
  }

  /** Who is meant by a name that a peer sends messages to. */
  target(name: string): InternalRef<never> {
    return this.#options.target(pathOf(name))
  }

  questionPath(peer: Peer, correlation: number): ActorPath {
    return this.#options.questionPath(peer, correlation)
  }

  /** An answer to a question that has ended. */
  lateAnswer(answer: unknown, peer: Peer, correlation: number): void {
    const path = this.#options.ownQuestionPath(peer, correlation)
    this.deadLetters.add(answer, { path }, "ask-ended")
  }
}

interface MessageCodecOptions {
  readonly codec: CodecFactory
  readonly types: TypeNames
  readonly clock: Clock
  readonly maxMessageBytes: number
  readonly deadLetters: DeadLetters
  readonly deadlines: Deadlines
  readonly logger: Pick<Logger, "log">
  readonly inbound: InboundTools
  /** The ref for a path, near or far. */
  resolve(path: ActorPath): InternalRef<never>
  /** The ref for a path that is to be one of this node's. */
  target(path: ActorPath): InternalRef<never>
  questionPath(peer: Peer, correlation: number): ActorPath
  ownQuestionPath(peer: Peer, correlation: number): ActorPath
}

const MAX_REFS = 4_096
/** By which a message grows that a codec has made without saying. */
const UNKNOWN_OVERHEAD = 4

/**
 * In few different sizes, so that messages of a kind weigh the same; and never less than the place in a queue
 * takes.
 */
function weightOf(bytes: number): number {
  return bytes <= 1_024 ? Math.max(64, 1 << (32 - Math.clz32(bytes - 1))) : (bytes + 1_023) & ~1_023
}

function pathOf(text: string): ActorPath {
  const path = ActorPath.tryParse(text, { runtimeNames: true })
  if (path instanceof ActorPathError) throw new MalformedBytesError(`no path: ${path.message}`)
  return path
}

/** By a getter, say, of the message that was being sent. */
function sentFromInside(): InvalidMessageError {
  return new InvalidMessageError("it was sent from inside of another that was being sent")
}

function unsendable(error: unknown): InvalidMessageError {
  return new InvalidMessageError("something in it threw while it was put into bytes", "not-delivered", {
    cause: error,
  })
}

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
import type { InboundDependencies } from "./inbound-flow.js"
import type { RemoteReply } from "./remote-reply.js"

/**
 * Encodes and decodes messages: the codec, and the meaning of refs within messages.
 *
 * A ref is encoded as its path. The exception is the ref for the answer within its own question, which is the
 * empty string, since the question's correlation already says where an answer goes. This makes an ask cheap.
 */
export class MessageCodec implements RefTexts {
  readonly deadLetters: DeadLetters
  readonly deadlines: Deadlines
  readonly logger: Pick<Logger, "log">
  readonly maxMessageBytes: number
  readonly inbound: InboundDependencies
  /** The estimated size in memory of the last decoded message. */
  weight = 0
  readonly #options: MessageCodecOptions
  readonly #codec: Codec
  readonly #scratch = new OutputBuffer(4_096)
  /** A cache of refs by path, since the same few recur. */
  readonly #refs = new Map<string, InternalRef<never>>()
  #isEncoding = false
  #question: ReplyRef | undefined
  #reply: ReplyRef | undefined

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

  /** Encodes a message; throws an `InvalidMessageError`. `question` is the ref for the answer to it. */
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

  /** As `encode`, into a new buffer. */
  encoded(value: unknown, question: ReplyRef | undefined): Buffer {
    if (this.#isEncoding) throw sentFromInside()
    const out = this.#scratch
    out.at = 0
    this.encode(value, out, question)
    return Buffer.from(out.bytes.subarray(0, out.at))
  }

  /** Decodes a message, answered by `reply`. Throws an `InvalidMessageError` or a `MalformedBytesError`. */
  decode(input: InputBytes, reply: RemoteReply | undefined): unknown {
    this.#reply = reply
    const { left } = input
    try {
      const value = this.#codec.decode(input.bytes, input.at, input.end)
      this.weight = weightOf(left + (this.#codec.overheadBytes ?? left * UNKNOWN_OVERHEAD))
      return value
    } catch (error) {
      if (isInstance(error, InvalidMessageError) || isInstance(error, MalformedBytesError)) throw error
      throw new InvalidMessageError("the codec threw while decoding the message", "not-delivered", {
        cause: error,
      })
    } finally {
      this.#reply = undefined
    }
  }

  /** Decodes a message that was encoded by this node and not sent; `question` is as in `encode`. */
  decoded(payload: Buffer, question?: ReplyRef): unknown {
    this.#reply = question
    try {
      return this.#codec.decode(payload, 0, payload.length)
    } catch {
      return payload
    } finally {
      this.#reply = undefined
    }
  }

  isRef(value: object): boolean {
    return value instanceof InternalRef
  }

  textOf(ref: object): string {
    if (ref === this.#question) return ""
    const text = (ref as InternalRef<never>).path.toString()
    if (text.length <= MAX_NAME_BYTES) return text
    throw new InvalidMessageError(
      `message contains a ref with a path longer than ${MAX_NAME_BYTES} characters`,
    )
  }

  refOf(text: string): object {
    if (text === "") {
      if (this.#reply === undefined)
        throw new MalformedBytesError("a message that is not a question contains a reply ref")
      return this.#reply
    }
    if (text.length > MAX_NAME_BYTES)
      throw new MalformedBytesError(`a ref has a path longer than ${MAX_NAME_BYTES} characters`)
    const known = this.#refs.get(text)
    if (known !== undefined) return known
    const ref = this.#options.resolve(pathOf(text))
    if (this.#refs.size >= MAX_REFS) this.#refs.clear()
    this.#refs.set(text, ref)
    return ref
  }

  /** Resolves a name that a peer sends messages to. */
  target(name: string): InternalRef<never> {
    return this.#options.target(pathOf(name))
  }

  questionPath(peer: Peer, correlation: number): ActorPath {
    return this.#options.questionPath(peer, correlation)
  }

  /** Called with an answer whose question has ended. */
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
  readonly inbound: InboundDependencies
  /** Returns the ref for a path of any node. */
  resolve(path: ActorPath): InternalRef<never>
  /** Returns the ref for a path of this node. */
  target(path: ActorPath): InternalRef<never>
  questionPath(peer: Peer, correlation: number): ActorPath
  ownQuestionPath(peer: Peer, correlation: number): ActorPath
}

const MAX_REFS = 4_096
/** Assumed growth in memory of a message whose codec does not report `overheadBytes`. */
const UNKNOWN_OVERHEAD = 4

/**
 * Rounds to few different sizes, so that messages of a kind weigh the same, and to no less than a queue entry
 * takes.
 */
function weightOf(bytes: number): number {
  return bytes <= 1_024 ? Math.max(64, 1 << (32 - Math.clz32(bytes - 1))) : (bytes + 1_023) & ~1_023
}

function pathOf(text: string): ActorPath {
  const path = ActorPath.tryParse(text, { runtimeNames: true })
  if (path instanceof ActorPathError) throw new MalformedBytesError(`invalid actor path: ${path.message}`)
  return path
}

/** Raised when a getter of the message that is being encoded sends a message, for example. */
function sentFromInside(): InvalidMessageError {
  return new InvalidMessageError("cannot send a message while another is being encoded")
}

function unsendable(error: unknown): InvalidMessageError {
  return new InvalidMessageError("the message threw while it was being encoded", "not-delivered", {
    cause: error,
  })
}

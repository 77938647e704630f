import type { ByteSink, Codec, CodecFactory, CodecTools } from "../ports/codec.js"
import { BinaryDecoder } from "./binary-decoder.js"
import { BinaryEncoder } from "./binary-encoder.js"
import { type CodecLimits, codecLimits, codecName } from "./codec-limits.js"

/**
 * Creates the default codec: each value is a tag byte followed by the value.
 *
 * Each message is self-contained. A codec that sends each field name once and a number after that writes
 * fewer bytes, but both sides must agree on what was sent before, across lost connections and dropped
 * messages, and the state that a peer makes this node keep must be bounded. Here each side caches names for
 * itself, and no byte depends on the cache.
 */
export function binaryCodec(limits?: Partial<CodecLimits>): CodecFactory {
  const checked = codecLimits(limits)
  return (tools) => new BinaryCodec(tools, checked)
}

class BinaryCodec implements Codec {
  readonly name: string
  readonly #tools: CodecTools
  readonly limits: CodecLimits
  /** Idle encoders and decoders; a getter or a hook that calls the codec again gets a new one. */
  #encoder: BinaryEncoder | undefined
  #decoder: BinaryDecoder | undefined

  constructor(tools: CodecTools, limits: CodecLimits) {
    this.name = codecName("troupe-binary-1", limits)
    this.#tools = tools
    this.limits = limits
  }

  get overheadBytes(): number {
    return this.#decoder?.overheadBytes ?? 0
  }

  encode(value: unknown, out: ByteSink): void {
    const encoder = this.#encoder ?? new BinaryEncoder(this.#tools, this.limits)
    this.#encoder = undefined
    try {
      encoder.encode(value, out)
    } finally {
      this.#encoder = encoder
    }
  }

  decode(bytes: Buffer, start: number, end: number): unknown {
    const decoder = this.#decoder ?? new BinaryDecoder(this.#tools, this.limits)
    this.#decoder = undefined
    try {
      return decoder.decode(bytes, start, end)
    } finally {
      this.#decoder = decoder
    }
  }
}

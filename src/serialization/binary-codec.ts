import type { ByteSink, Codec, CodecFactory, CodecTools } from "../ports/codec.js"
import { BinaryDecoder } from "./binary-decoder.js"
import { BinaryEncoder } from "./binary-encoder.js"
import { type CodecLimits, codecLimits, codecName } from "./codec-limits.js"

/**
 * The codec that is used unless another is set: a byte that says what a value is, then the value.
 *
 * Each message stands for itself. Codecs that send the names of fields once and a number from then on write
 * fewer bytes, and have to agree with the other side about what was sent before, across lost connections and
 * messages that were dropped; and what one peer makes another remember has to be bounded again. Here, names
 * are cached on each side for itself, and no byte depends on it.
 */
export function binaryCodec(limits?: Partial<CodecLimits>): CodecFactory {
  const checked = codecLimits(limits)
  return (tools) => new BinaryCodec(tools, checked)
}

class BinaryCodec implements Codec {
  readonly name: string
  readonly #tools: CodecTools
  readonly limits: CodecLimits
  /** The ones at rest; a getter or a hook that comes back here while one is at work gets a new one. */
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

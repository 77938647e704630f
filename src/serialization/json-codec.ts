import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { ByteSink, Codec, CodecFactory, CodecTools } from "../ports/codec.js"
import { type CodecLimits, codecLimits, codecName } from "./codec-limits.js"
import { JsonReader } from "./json-reader.js"
import { refuseDeepJson } from "./json-scan.js"
import { JsonWriter } from "./json-writer.js"

/**
 * Creates a codec that encodes the same values as the binary codec as JSON, readable by people and other
 * programs. It takes three to five times as long, and more bytes.
 *
 * A value that JSON does not have is an object whose first key is `$`: `{"$":"Date","v":0}`. An object that
 * has such a key itself is wrapped, so that no user value is mistaken for another.
 */
export function jsonCodec(limits?: Partial<CodecLimits>): CodecFactory {
  const checked = codecLimits(limits)
  return (tools) => new JsonCodec(tools, checked)
}

class JsonCodec implements Codec {
  readonly name: string
  readonly #tools: CodecTools
  readonly limits: CodecLimits

  constructor(tools: CodecTools, limits: CodecLimits) {
    this.name = codecName("troupe-json-1", limits)
    this.#tools = tools
    this.limits = limits
  }

  encode(value: unknown, out: ByteSink): void {
    const text = new JsonWriter(this.#tools, this.limits).write(value)
    const length = Buffer.byteLength(text)
    out.reserve(length)
    out.at += out.bytes.write(text, out.at, length)
  }

  decode(bytes: Buffer, start: number, end: number): unknown {
    refuseDeepJson(bytes, start, end, this.limits)
    return new JsonReader(this.#tools, this.limits).read(parsed(bytes.subarray(start, end)))
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch (thrown) {
    throw new MalformedBytesError("the bytes are not valid JSON", { cause: thrown })
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

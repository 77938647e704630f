import { StateError } from "../errors/state-error.js"
import type { Codec } from "../ports/codec.js"
import { InputBytes } from "../serialization/input-bytes.js"
import type { OutputBuffer } from "../serialization/output-buffer.js"

/**
 * The codecs of what is stored: one writes, and all of them read.
 *
 * A state names its codec in its head. What is kept beside it, such as the answer of an operation or the
 * argument of a reminder, has a mark with the name of its codec, unless that is the codec of messages: all
 * nodes of a cluster have the same one, and had before there were marks. So a store whose codec was never
 * changed has no marks, and one in which it was has values of both codecs beside one state for as long as
 * they are kept. Encoding all of them again when an actor starts would take as long as there are rows; trying
 * one codec after the other would take bytes of one for a value of the other.
 *
 * No value of the codecs of this package begins with the byte of the mark. One of another codec that does is
 * marked in any case.
 */
export class StateCodecs {
  readonly write: Codec
  readonly #unmarked: Codec
  readonly #byFormat = new Map<string, Codec>()

  /** `messages` is the codec of messages, and `read` are further ones that are read. */
  constructor(messages: Codec, write = messages, read: readonly Codec[] = []) {
    this.#unmarked = messages
    this.write = write
    for (const codec of [write, messages, ...read]) {
      const format = formatOf(codec.name)
      if (!this.#byFormat.has(format)) this.#byFormat.set(format, codec)
    }
  }

  /** The formats that can be read. */
  get formats(): readonly string[] {
    return [...this.#byFormat.keys()]
  }

  /** The format that is written; undefined if it is that of messages, which all nodes can read. */
  get newFormat(): string | undefined {
    return this.#isMarked ? formatOf(this.write.name) : undefined
  }

  /** The codec of this name, whatever its limits are. Throws a `StateError` if there is none. */
  named(name: string, actor: string): Codec {
    const codec = this.#byFormat.get(formatOf(name))
    if (codec !== undefined) return codec
    const detail = `it was encoded by the codec ${formatOf(name)}, and this node reads ${this.formats.join(", ")}; add that codec to stateCodecs.read`
    throw new StateError(actor, "unreadable", detail)
  }

  /** Appends a value with its mark, if it needs one. */
  encodeMarked(value: unknown, out: OutputBuffer): void {
    const start = out.at
    if (!this.#isMarked) {
      this.write.encode(value, out)
      if (out.bytes[start] !== MARK) return
      out.at = start
    }
    out.u8(MARK)
    out.text(formatOf(this.write.name))
    this.write.encode(value, out)
  }

  /** Decodes what `encodeMarked` has written, on any node. Throws a `StateError` for an unknown codec. */
  decodeMarked(bytes: Buffer, actor: string): unknown {
    const mark = bytes[0] === MARK ? markIn(bytes) : undefined
    if (mark === undefined) return this.#unmarked.decode(bytes, 0, bytes.length)
    return this.named(mark.format, actor).decode(bytes, mark.end, bytes.length)
  }

  /** Appends a value as all nodes have always encoded it, for comparing. */
  encodeAlike(value: unknown, out: OutputBuffer): void {
    this.#unmarked.encode(value, out)
  }

  get #isMarked(): boolean {
    return formatOf(this.write.name) !== formatOf(this.#unmarked.name)
  }
}

const MARK = 0xff

/** Undefined if the bytes are no mark: a codec that knows of none has written them. */
function markIn(bytes: Buffer): { readonly format: string; readonly end: number } | undefined {
  try {
    const input = new InputBytes(bytes, 1, bytes.length)
    const format = input.text()
    return { format, end: bytes.length - input.left }
  } catch {
    return undefined
  }
}

/** The name of a codec without the limits that follow it: other limits do not matter to a reader. */
export function formatOf(codec: string): string {
  return codec.split(" ", 1)[0] as string
}

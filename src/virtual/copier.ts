import { InternalRef } from "../actor/internal-ref.js"
import { InvalidMessageError } from "../errors/call-errors.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { Codec } from "../ports/codec.js"
import { OutputBuffer } from "../serialization/output-buffer.js"

/**
 * Copies what passes between a caller and an actor in one process, so that neither can change what the other has; and refuses
 * what could not cross the wire, so that a program which works on one node works on ten.
 *
 * Plain data (texts, numbers, arrays and objects of them) is copied as it is walked, and an upper bound of its size on the wire is
 * counted on the way. All else takes the way that it would take over the wire, there and back.
 */
export class Copier {
  readonly #codec: Codec
  readonly #maxBytes: number
  readonly #buffer = new OutputBuffer(4_096)
  #room = 0
  /** A getter, or the way of a class to the wire, may call an actor. */
  #isCopying = false

  constructor(codec: Codec, maxBytes: number) {
    this.#codec = codec
    this.#maxBytes = maxBytes
  }

  /** Throws an `InvalidMessageError`. */
  copy(value: unknown): unknown {
    switch (typeof value) {
      case "number":
      case "boolean":
      case "undefined":
        return value
      case "string":
        return value.length * MOST_BYTES_OF_A_CHARACTER + ROOM < this.#maxBytes ? value : this.#byWire(value)
    }
    if (value === null) return value
    if (this.#isCopying)
      throw new InvalidMessageError("it was sent from inside of another that was being sent")
    this.#room = this.#maxBytes - ROOM
    this.#isCopying = true
    try {
      const copy = this.#plain(value, 0)
      return copy === NOT_PLAIN ? this.#byWire(value) : copy
    } catch (error) {
      throw error instanceof InvalidMessageError ? error : threw(error)
    } finally {
      this.#isCopying = false
    }
  }

  /** An array of arguments, which is the caller's no more. */
  copyAll(values: readonly unknown[]): readonly unknown[] {
    if (values.length === 0) return NO_VALUES
    if (values.length === 1) {
      const [value] = values
      const copy = this.copy(value)
      return copy === value ? [value] : [copy]
    }
    return this.copy(values) as readonly unknown[]
  }

  #plain(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case "number":
      case "boolean":
      case "undefined":
        this.#room -= MOST_BYTES
        return value
      case "string":
        this.#room -= value.length * MOST_BYTES_OF_A_CHARACTER + MOST_BYTES
        return value
      case "object":
        if (value === null) {
          this.#room -= MOST_BYTES
          return null
        }
        if (depth > DEEPEST || this.#room < 0) return NOT_PLAIN
        if (Array.isArray(value)) return this.#array(value, depth)
        if (Object.getPrototypeOf(value) === Object.prototype) return this.#object(value, depth)
        return value instanceof InternalRef ? this.#ref(value) : NOT_PLAIN
      default:
        return NOT_PLAIN
    }
  }

  #array(value: readonly unknown[], depth: number): unknown {
    if (Object.getPrototypeOf(value) !== Array.prototype) return NOT_PLAIN
    this.#room -= MOST_BYTES
    const copy: unknown[] = new Array<unknown>(value.length)
    for (let at = 0; at < value.length; at += 1) {
      const item = value[at]
      if (item === undefined && !(at in value)) return NOT_PLAIN
      const copied = this.#plain(item, depth + 1)
      if (copied === NOT_PLAIN || this.#room < 0) return NOT_PLAIN
      copy[at] = copied
    }
    return Object.keys(value).length === value.length ? copy : NOT_PLAIN
  }

  #object(value: object, depth: number): unknown {
    this.#room -= MOST_BYTES
    const copy: Record<string, unknown> = {}
    const source = value as Record<string, unknown>
    for (const key of Object.keys(source)) {
      if (key === "__proto__") return NOT_PLAIN
      this.#room -= key.length * MOST_BYTES_OF_A_CHARACTER + MOST_BYTES
      const copied = this.#plain(source[key], depth + 1)
      if (copied === NOT_PLAIN || this.#room < 0) return NOT_PLAIN
      copy[key] = copied
    }
    return Object.getOwnPropertySymbols(value).length === 0 ? copy : NOT_PLAIN
  }

  /** It is the same one here and everywhere. */
  #ref(ref: InternalRef<never>): unknown {
    this.#room -= ref.path.toString().length * MOST_BYTES_OF_A_CHARACTER + MOST_BYTES
    return ref
  }

  #byWire(value: unknown): unknown {
    const out = this.#buffer
    out.at = 0
    out.maxBytes = this.#maxBytes
    out.limitAt = this.#maxBytes
    try {
      this.#codec.encode(value, out)
      return this.#codec.decode(Buffer.from(out.bytes.subarray(0, out.at)), 0, out.at)
    } catch (error) {
      throw error instanceof InvalidMessageError ? error : threw(error)
    }
  }
}

function threw(cause: unknown): InvalidMessageError {
  const problem =
    cause instanceof MalformedBytesError ? cause.message : "something in it threw while it was copied"
  return new InvalidMessageError(problem, "not-delivered", { cause })
}

const NO_VALUES: readonly unknown[] = []
const NOT_PLAIN: unique symbol = Symbol("not plain")
/** Deeper ones are left to the codec, which has the limit. */
const DEEPEST = 32
/** In either codec: of a character that JSON escapes, and of anything else, its mark in JSON included. */
const MOST_BYTES_OF_A_CHARACTER = 6
const MOST_BYTES = 40
const ROOM = 64

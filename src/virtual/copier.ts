import { InternalRef } from "../actor/internal-ref.js"
import { InvalidMessageError } from "../errors/call-errors.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { isInstance } from "../errors/thrown.js"
import type { Codec } from "../ports/codec.js"
import { ARRAY_WEIGHT, OBJECT_WEIGHT, REF_WEIGHT } from "../serialization/item-weights.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import { ONE_WAY_CALL, RESENT } from "./incoming-call.js"

/**
 * Copies what passes between a caller and an actor in one process, so that neither can change what the other
 * has; and refuses what could not cross the wire, so that a program which works on one node works on ten.
 *
 * Plain data (texts, numbers, arrays and objects of them) is copied as it is walked, and an upper bound of
 * its size on the wire is counted on the way. All else takes the way that it would take over the wire, there
 * and back. As there, of an array only the elements count, and of an object only fields whose keys are texts.
 */
export class Copier {
  readonly #codec: Codec
  readonly #maxBytes: number
  readonly #buffer = new OutputBuffer(4_096)
  /** Bytes and items that may still come. */
  #room = 0
  #itemsLeft = 0
  readonly #maxItems: number
  /**
   * No array or object may be as deep; deeper ones than `DEEPEST` are left to the codec, which has the limit.
   */
  readonly #depthEnd: number
  /** A getter, or the way of a class to the wire, may call an actor. */
  #isCopying = false

  constructor(codec: Codec, maxBytes: number) {
    this.#codec = codec
    this.#maxBytes = maxBytes
    // One that does not say what it takes is asked each time.
    const { maxDepth, maxItems } = codec.limits ?? { maxDepth: 0, maxItems: 0 }
    this.#depthEnd = Math.min(maxDepth, DEEPEST + 1)
    this.#maxItems = maxItems
  }

  /** A result or an error, which would be sent as it is. Throws an `InvalidMessageError`. */
  copy(value: unknown): unknown {
    if (this.#isSmall(value, this.#maxBytes)) return value
    this.#begin(this.#maxBytes, 0)
    try {
      const copy = this.#plain(value, 0)
      return copy === NOT_PLAIN || this.#room < 0 ? this.#byWire(value) : copy
    } catch (error) {
      throw isInstance(error, InvalidMessageError) ? error : threw(error)
    } finally {
      this.#isCopying = false
    }
  }

  /**
   * The arguments of a call, in an array that is nobody else's; what is in it is the caller's no more. They
   * are counted as they would be in the message of that call, in its longest form. Throws an
   * `InvalidMessageError` for what could not be sent.
   */
  copyArguments(args: readonly unknown[], id: CallHead, method: string): readonly unknown[] {
    if (args.length === 0) return NO_VALUES
    const room = this.#maxBytes - mostBytesOf(id, method)
    if (args.length === 1 && this.#isSmall(args[0], room)) return args
    this.#begin(room, ITEMS_OF_A_CALL + args.length)
    try {
      return this.#plainArguments(args) ?? this.#argumentsByWire(args, id, method)
    } catch (error) {
      throw isInstance(error, InvalidMessageError) ? aboutArguments(error) : threw(error)
    } finally {
      this.#isCopying = false
    }
  }

  #begin(room: number, items: number): void {
    if (this.#isCopying) throw new InvalidMessageError("cannot send a message while another is being encoded")
    this.#room = room - ROOM
    this.#itemsLeft = this.#maxItems - items
    this.#isCopying = true
  }

  /** Undefined if one of them is not plain. */
  #plainArguments(args: readonly unknown[]): readonly unknown[] | undefined {
    if (this.#itemsLeft < 0 || this.#depthEnd < 2) return undefined
    const copies = new Array<unknown>(args.length)
    for (let at = 0; at < args.length; at += 1) {
      const copy = this.#plain(args[at], 2)
      if (copy === NOT_PLAIN || this.#room < 0) return undefined
      copies[at] = copy
    }
    return copies
  }

  /**
   * In another order than in the message, so that nobody takes this for one; that changes neither bytes, nor
   * items, nor depth.
   */
  #argumentsByWire(args: readonly unknown[], id: CallHead, method: string): readonly unknown[] {
    const message = [args, id.type, id.key, method, ONE_WAY_CALL | RESENT]
    const [copies] = this.#byWire(message) as readonly [readonly unknown[]]
    return copies
  }

  /** Whether it needs no copy, and fits. */
  #isSmall(value: unknown, room: number): boolean {
    switch (typeof value) {
      case "number":
      case "boolean":
      case "undefined":
        return true
      case "string":
        return value.length * MOST_BYTES_OF_A_CHARACTER + ROOM < room
      default:
        return value === null
    }
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
        if (depth >= this.#depthEnd || this.#room < 0) return NOT_PLAIN
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
    this.#itemsLeft -= value.length + ARRAY_WEIGHT
    if (this.#itemsLeft < 0) return NOT_PLAIN
    const copy: unknown[] = new Array<unknown>(value.length)
    for (let at = 0; at < value.length; at += 1) {
      const item = value[at]
      if (item === undefined && !(at in value)) return NOT_PLAIN
      const copied = this.#plain(item, depth + 1)
      if (copied === NOT_PLAIN || this.#room < 0) return NOT_PLAIN
      copy[at] = copied
    }
    return copy
  }

  #object(value: object, depth: number): unknown {
    this.#room -= MOST_BYTES
    const copy: Record<string, unknown> = {}
    const source = value as Record<string, unknown>
    let items = OBJECT_WEIGHT
    for (const key in source) {
      if (!hasOwn.call(source, key)) continue
      if (key === "__proto__") return NOT_PLAIN
      items += 1
      this.#room -= key.length * MOST_BYTES_OF_A_CHARACTER + MOST_BYTES
      const copied = this.#plain(source[key], depth + 1)
      if (copied === NOT_PLAIN || this.#room < 0) return NOT_PLAIN
      copy[key] = copied
    }
    this.#itemsLeft -= items
    return this.#itemsLeft < 0 ? NOT_PLAIN : copy
  }

  /** It is the same one here and everywhere. */
  #ref(ref: InternalRef<never>): unknown {
    this.#itemsLeft -= REF_WEIGHT
    if (this.#itemsLeft < 0) return NOT_PLAIN
    this.#room -= ref.path.toString().length * MOST_BYTES_OF_A_CHARACTER + MOST_BYTES
    return ref
  }

  #byWire(value: unknown): unknown {
    const out = this.#buffer
    out.at = 0
    out.maxBytes = this.#maxBytes
    out.limitAt = this.#maxBytes
    this.#codec.encode(value, out)
    return this.#codec.decode(Buffer.from(out.bytes.subarray(0, out.at)), 0, out.at)
  }
}

/** Whom a call is for. */
interface CallHead {
  readonly type: string
  readonly key: string
  /** Type and key. */
  readonly name: string
}

function mostBytesOf({ name }: CallHead, method: string): number {
  return (name.length + method.length) * MOST_BYTES_OF_A_CHARACTER + 3 * MOST_BYTES
}

/** What they are in is the runtime's. */
function aboutArguments(error: InvalidMessageError): InvalidMessageError {
  const { message, delivery, cause } = error
  const said = message
    .replace(/^message\[0\]/, "arguments")
    .replace(" refers back to message[0]", " refers back to arguments")
  return said === message
    ? error
    : new InvalidMessageError(said, delivery, cause === undefined ? {} : { cause })
}

function threw(cause: unknown): InvalidMessageError {
  const problem = isInstance(cause, MalformedBytesError)
    ? cause.message
    : "something in it threw while it was copied"
  return new InvalidMessageError(problem, "not-delivered", { cause })
}

const hasOwn = Object.prototype.hasOwnProperty
const NO_VALUES: readonly unknown[] = []
const NOT_PLAIN: unique symbol = Symbol("not plain")
const DEEPEST = 32
/**
 * The message with its elements (type, key, method, arguments, and what is special about the call), and the
 * array of arguments.
 */
const ITEMS_OF_A_CALL = ARRAY_WEIGHT + 5 + ARRAY_WEIGHT
/** In either codec: of a character that JSON escapes, and of anything else, its mark in JSON included. */
const MOST_BYTES_OF_A_CHARACTER = 6
const MOST_BYTES = 40
const ROOM = 64

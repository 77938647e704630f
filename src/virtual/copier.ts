import { InternalRef } from "../actor/internal-ref.js"
import { InvalidMessageError } from "../errors/call-errors.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { isInstance } from "../errors/thrown.js"
import type { Codec } from "../ports/codec.js"
import { ARRAY_WEIGHT, OBJECT_WEIGHT, REF_WEIGHT } from "../serialization/item-weights.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import { ONE_WAY_CALL, RESENT } from "./incoming-call.js"

/**
 * Copies the values that a caller and an actor in one process pass to each other, so that neither can change
 * the objects of the other. Refuses values that could not be sent to another node, so that a program that
 * works on one node works on ten.
 *
 * Plain data (strings, numbers, and arrays and objects of them) is copied directly, while an upper bound of
 * its encoded size is computed. All other values are encoded and decoded with the codec. As in the codec,
 * only the elements of an array and only the string keys of an object are copied.
 */
export class Copier {
  readonly #codec: Codec
  readonly #maxBytes: number
  readonly #buffer = new OutputBuffer(4_096)
  /** The bytes and items that the limits still allow. */
  #bytesLeft = 0
  #itemsLeft = 0
  readonly #maxItems: number
  /**
   * The depth from which arrays and objects are left to the codec, which applies its own limit. At most
   * `MAX_DIRECT_DEPTH + 1`.
   */
  readonly #depthEnd: number
  /**
   * Set during a copy: a getter, or an encode function of a class, may call an actor and so start another
   * copy.
   */
  #isCopying = false

  constructor(codec: Codec, maxBytes: number) {
    this.#codec = codec
    this.#maxBytes = maxBytes
    // If the codec does not state its limits, all arrays and objects are left to it.
    const { maxDepth, maxItems } = codec.limits ?? { maxDepth: 0, maxItems: 0 }
    this.#depthEnd = Math.min(maxDepth, MAX_DIRECT_DEPTH + 1)
    this.#maxItems = maxItems
  }

  /** Copies a result or an error. Throws an `InvalidMessageError` if it could not be sent. */
  copy(value: unknown): unknown {
    if (this.#isSmall(value, this.#maxBytes)) return value
    this.#begin(this.#maxBytes, 0)
    try {
      const copy = this.#copyPlain(value, 0)
      return copy === NOT_PLAIN || this.#bytesLeft < 0 ? this.#copyByCodec(value) : copy
    } catch (error) {
      throw isInstance(error, InvalidMessageError) ? error : copyError(error)
    } finally {
      this.#isCopying = false
    }
  }

  /**
   * Copies the arguments of a call. The limits apply to the message of the call, in its longest form. Returns
   * `args` itself if its only element needs no copy, so the caller must not use the array afterwards. Throws
   * an `InvalidMessageError` if the arguments could not be sent.
   */
  copyArguments(args: readonly unknown[], id: CallHead, method: string): readonly unknown[] {
    if (args.length === 0) return NO_VALUES
    const maxBytes = this.#maxBytes - maxHeadBytes(id, method)
    if (args.length === 1 && this.#isSmall(args[0], maxBytes)) return args
    this.#begin(maxBytes, CALL_ITEMS + args.length)
    try {
      return this.#copyPlainArguments(args) ?? this.#copyArgumentsByCodec(args, id, method)
    } catch (error) {
      throw isInstance(error, InvalidMessageError) ? inArguments(error) : copyError(error)
    } finally {
      this.#isCopying = false
    }
  }

  #begin(maxBytes: number, items: number): void {
    if (this.#isCopying) throw new InvalidMessageError("cannot send a message while another is being encoded")
    this.#bytesLeft = maxBytes - MARGIN_BYTES
    this.#itemsLeft = this.#maxItems - items
    this.#isCopying = true
  }

  /** Returns undefined if the arguments have to be copied by the codec. */
  #copyPlainArguments(args: readonly unknown[]): readonly unknown[] | undefined {
    if (this.#itemsLeft < 0 || this.#depthEnd < 2) return undefined
    const copies = new Array<unknown>(args.length)
    for (let at = 0; at < args.length; at += 1) {
      const copy = this.#copyPlain(args[at], 2)
      if (copy === NOT_PLAIN || this.#bytesLeft < 0) return undefined
      copies[at] = copy
    }
    return copies
  }

  /**
   * Copies the arguments by the codec, as part of an array with the elements of a call message. Their order
   * differs from that of a real message, so that the array cannot be mistaken for one. The order changes
   * neither the size, nor the number of items, nor the depth.
   */
  #copyArgumentsByCodec(args: readonly unknown[], id: CallHead, method: string): readonly unknown[] {
    const message = [args, id.type, id.key, method, ONE_WAY_CALL | RESENT]
    const [copies] = this.#copyByCodec(message) as readonly [readonly unknown[]]
    return copies
  }

  /** Whether the value needs no copy and is within the limit. */
  #isSmall(value: unknown, maxBytes: number): boolean {
    switch (typeof value) {
      case "number":
      case "boolean":
      case "undefined":
        return true
      case "string":
        return value.length * MAX_BYTES_PER_CHARACTER + MARGIN_BYTES < maxBytes
      default:
        return value === null
    }
  }

  #copyPlain(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case "number":
      case "boolean":
      case "undefined":
        this.#bytesLeft -= MAX_BYTES_PER_VALUE
        return value
      case "string":
        this.#bytesLeft -= value.length * MAX_BYTES_PER_CHARACTER + MAX_BYTES_PER_VALUE
        return value
      case "object":
        if (value === null) {
          this.#bytesLeft -= MAX_BYTES_PER_VALUE
          return null
        }
        if (depth >= this.#depthEnd || this.#bytesLeft < 0) return NOT_PLAIN
        if (Array.isArray(value)) return this.#copyArray(value, depth)
        if (Object.getPrototypeOf(value) === Object.prototype) return this.#copyObject(value, depth)
        return value instanceof InternalRef ? this.#copyRef(value) : NOT_PLAIN
      default:
        return NOT_PLAIN
    }
  }

  #copyArray(value: readonly unknown[], depth: number): unknown {
    if (Object.getPrototypeOf(value) !== Array.prototype) return NOT_PLAIN
    this.#bytesLeft -= MAX_BYTES_PER_VALUE
    this.#itemsLeft -= value.length + ARRAY_WEIGHT
    if (this.#itemsLeft < 0) return NOT_PLAIN
    const copy: unknown[] = new Array<unknown>(value.length)
    for (let at = 0; at < value.length; at += 1) {
      const item = value[at]
      if (item === undefined && !(at in value)) return NOT_PLAIN
      const copied = this.#copyPlain(item, depth + 1)
      if (copied === NOT_PLAIN || this.#bytesLeft < 0) return NOT_PLAIN
      copy[at] = copied
    }
    return copy
  }

  #copyObject(value: object, depth: number): unknown {
    this.#bytesLeft -= MAX_BYTES_PER_VALUE
    const copy: Record<string, unknown> = {}
    const source = value as Record<string, unknown>
    let items = OBJECT_WEIGHT
    for (const key in source) {
      if (!hasOwn.call(source, key)) continue
      if (key === "__proto__") return NOT_PLAIN
      items += 1
      this.#bytesLeft -= key.length * MAX_BYTES_PER_CHARACTER + MAX_BYTES_PER_VALUE
      const copied = this.#copyPlain(source[key], depth + 1)
      if (copied === NOT_PLAIN || this.#bytesLeft < 0) return NOT_PLAIN
      copy[key] = copied
    }
    this.#itemsLeft -= items
    return this.#itemsLeft < 0 ? NOT_PLAIN : copy
  }

  /** Returns the ref itself, since a ref is immutable and denotes the same actor on every node. */
  #copyRef(ref: InternalRef<never>): unknown {
    this.#itemsLeft -= REF_WEIGHT
    if (this.#itemsLeft < 0) return NOT_PLAIN
    this.#bytesLeft -= ref.path.toString().length * MAX_BYTES_PER_CHARACTER + MAX_BYTES_PER_VALUE
    return ref
  }

  #copyByCodec(value: unknown): unknown {
    const out = this.#buffer
    out.at = 0
    out.maxBytes = this.#maxBytes
    out.limitAt = this.#maxBytes
    this.#codec.encode(value, out)
    return this.#codec.decode(Buffer.from(out.bytes.subarray(0, out.at)), 0, out.at)
  }
}

/** The target of a call. */
interface CallHead {
  readonly type: string
  readonly key: string
  /** `type/key`. */
  readonly name: string
}

function maxHeadBytes({ name }: CallHead, method: string): number {
  return (name.length + method.length) * MAX_BYTES_PER_CHARACTER + 3 * MAX_BYTES_PER_VALUE
}

/**
 * Changes the place in the message of a codec error from `message[0]` to `arguments`, since the array around
 * the arguments is internal.
 */
function inArguments(error: InvalidMessageError): InvalidMessageError {
  const { message, delivery, cause } = error
  const said = message
    .replace(/^message\[0\]/, "arguments")
    .replace(" refers back to message[0]", " refers back to arguments")
  return said === message
    ? error
    : new InvalidMessageError(said, delivery, cause === undefined ? {} : { cause })
}

function copyError(cause: unknown): InvalidMessageError {
  const problem = isInstance(cause, MalformedBytesError)
    ? cause.message
    : "the message threw while it was being copied"
  return new InvalidMessageError(problem, "not-delivered", { cause })
}

const hasOwn = Object.prototype.hasOwnProperty
const NO_VALUES: readonly unknown[] = []
const NOT_PLAIN: unique symbol = Symbol("not plain")
/** How deep values are copied directly. */
const MAX_DIRECT_DEPTH = 32
/**
 * The items of the message of a call: its array, its five elements (type, key, method, arguments and flags),
 * and the array of arguments.
 */
const CALL_ITEMS = ARRAY_WEIGHT + 5 + ARRAY_WEIGHT
/** The most bytes that either codec uses for a character: JSON escapes some with six bytes. */
const MAX_BYTES_PER_CHARACTER = 6
/** The most bytes that either codec uses for a value apart from its contents, including the tags of JSON. */
const MAX_BYTES_PER_VALUE = 40
const MARGIN_BYTES = 64

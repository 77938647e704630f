import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { CodecTools, RefTexts, TypeNames } from "../ports/codec.js"
import type { CodecLimits } from "./codec-limits.js"
import { errorPrototype } from "./error-classes.js"
import { makeError } from "./error-fields.js"
import { isSparseIndex, keepInTable, keepNamesInTable } from "./index-keys.js"
import { InputBytes } from "./input-bytes.js"
import { instanceOf, typeNamed } from "./instances.js"
import * as weights from "./item-weights.js"
import { KeyCache } from "./key-cache.js"
import { KEYS_IN_A_BATCH, KeyTime, LEAST_MEASURED } from "./key-time.js"
import { tooManyToRead } from "./refused-value.js"
import * as tags from "./tags.js"
import { PLAIN_BYTES, viewKinds } from "./view-kinds.js"

/**
 * Decodes values from untrusted bytes.
 *
 * Nothing is allocated beyond what the remaining bytes can fill: a count is compared with them before the
 * first item is read, and containers grow item by item. Decoding of keys that were chosen to collide is
 * aborted (`key-time.ts`). Of duplicate keys, elements or entries the last one counts. A number that is not
 * in its shortest form is accepted; a count or a length is not.
 */
export class BinaryDecoder {
  readonly #refs: RefTexts
  readonly #types: TypeNames
  readonly #limits: CodecLimits
  readonly #keys = new KeyCache()
  readonly #input = new InputBytes(NO_BYTES, 0, 0)
  readonly #keyTime: KeyTime
  #items = 0

  constructor({ refs, types, clock }: CodecTools, limits: CodecLimits) {
    this.#refs = refs
    this.#types = types
    this.#limits = limits
    this.#keyTime = new KeyTime(clock)
  }

  /** The estimated size in memory of the items of the last value. */
  get overheadBytes(): number {
    return this.#items * ITEM_BYTES
  }

  decode(bytes: Buffer, start: number, end: number): unknown {
    const input = this.#input
    input.reset(bytes, start, end)
    this.#items = 0
    this.#keys.missed = 0
    this.#keyTime.begin()
    try {
      const value = this.#value(0)
      if (input.left !== 0) throw new MalformedBytesError(`${input.left} bytes after the value`)
      return value
    } finally {
      input.reset(NO_BYTES, 0, 0)
    }
  }

  #value(depth: number): unknown {
    const tag = this.#input.u8()
    if (tag < tags.SHORT_TEXT) return tag
    if (tag < tags.SHORT_ARRAY) return this.#input.latin1(tag - tags.SHORT_TEXT)
    if (tag < tags.SHORT_OBJECT) return this.#array(tag - tags.SHORT_ARRAY, depth)
    if (tag < tags.NULL) return this.#object(tag - tags.SHORT_OBJECT, depth)
    return this.#tagged(tag, depth)
  }

  #tagged(tag: number, depth: number): unknown {
    const input = this.#input
    switch (tag) {
      case tags.NULL:
        return null
      case tags.UNDEFINED:
        return undefined
      case tags.FALSE:
        return false
      case tags.TRUE:
        return true
      case tags.UINT8:
        return input.u8()
      case tags.UINT16:
        return input.u16()
      case tags.UINT32:
        return input.u32()
      case tags.NEGATIVE8:
        return -1 - input.u8()
      case tags.NEGATIVE16:
        return -1 - input.u16()
      case tags.NEGATIVE32:
        return -1 - input.u32()
      case tags.FLOAT64:
        return input.f64()
      case tags.TEXT:
        return input.latin1(input.varint())
      case tags.WIDE_TEXT:
        return input.wide(input.varint())
      case tags.REF:
        return this.#ref()
      case tags.ARRAY:
        return this.#array(input.varint(), depth)
      case tags.OBJECT:
        return this.#object(input.varint(), depth)
      default:
        return this.#rarer(tag, depth)
    }
  }

  #rarer(tag: number, depth: number): unknown {
    const input = this.#input
    switch (tag) {
      case tags.BIGINT:
        return this.#magnitude()
      case tags.NEGATIVE_BIGINT:
        return -this.#magnitude()
      case tags.MAP:
        return this.#map(depth)
      case tags.SET:
        return this.#set(depth)
      case tags.DATE:
        this.#weigh(weights.DATE_WEIGHT)
        return new Date(input.f64())
      case tags.BYTES:
        return this.#view(PLAIN_BYTES)
      case tags.VIEW:
        return this.#view(input.u8())
      case tags.ERROR:
        return this.#error(depth)
      case tags.INSTANCE:
        return this.#instance(depth)
      default:
        throw new MalformedBytesError(`unknown tag ${tag}`)
    }
  }

  #array(count: number, depth: number): unknown[] {
    this.#enter(count, 1, depth, weights.ARRAY_WEIGHT)
    // The engine would allocate room for seventeen elements at the first `push`.
    if (count <= MOST_RESERVED) return this.#values(count, depth)
    const made: unknown[] = []
    for (let left = count; left > 0; left -= 1) made.push(this.#value(depth + 1))
    return made
  }

  #object(count: number, depth: number): Record<string, unknown> {
    this.#enter(count, 2, depth, weights.OBJECT_WEIGHT)
    const made: Record<string, unknown> = {}
    let isTable = false
    let mostNew = Math.max(MOST_NEW_KEYS, this.#keys.missed)
    for (let left = count; left > 0; left -= 1) {
      const key = this.#keys.read(this.#input)
      if (this.#keys.missed > mostNew) {
        keepNamesInTable(made)
        mostNew = Number.POSITIVE_INFINITY
      }
      if (!isTable && isSparseIndex(key, count)) {
        keepInTable(made)
        isTable = true
      }
      made[key] = this.#value(depth + 1)
    }
    return made
  }

  #map(depth: number): Map<unknown, unknown> {
    const count = this.#input.varint()
    this.#enter(count, 2, depth, weights.MAP_WEIGHT)
    const made = new Map<unknown, unknown>()
    let left = count
    while (left >= LEAST_MEASURED) {
      const keys = Math.min(left, KEYS_IN_A_BATCH)
      this.#keyTime.setAll(made, this.#values(2 * keys, depth))
      left -= keys
    }
    for (; left > 0; left -= 1) {
      const key = this.#value(depth + 1)
      made.set(key, this.#value(depth + 1))
    }
    return made
  }

  #set(depth: number): Set<unknown> {
    const count = this.#input.varint()
    this.#enter(count, 1, depth, weights.SET_WEIGHT)
    const made = new Set<unknown>()
    let left = count
    while (left >= LEAST_MEASURED) {
      const keys = Math.min(left, KEYS_IN_A_BATCH)
      this.#keyTime.addAll(made, this.#values(keys, depth))
      left -= keys
    }
    for (; left > 0; left -= 1) made.add(this.#value(depth + 1))
    return made
  }

  #values(count: number, depth: number): unknown[] {
    const made = new Array<unknown>(count)
    for (let at = 0; at < count; at += 1) made[at] = this.#value(depth + 1)
    return made
  }

  #magnitude(): bigint {
    const length = this.#input.varint()
    if (length === 0) return 0n
    if (length > MOST_BIGINT_BYTES)
      throw new MalformedBytesError(`a bigint must have at most ${MOST_BIGINT_BYTES} bytes (got ${length})`)
    const at = this.#input.skip(length)
    return BigInt(`0x${this.#input.bytes.toString("hex", at, at + length)}`)
  }

  /** Copies the bytes, which aligns them for the elements. */
  #view(place: number): object {
    const kind = viewKinds[place]
    if (kind === undefined) throw new MalformedBytesError(`unknown kind of view ${place}`)
    this.#weigh(weights.VIEW_WEIGHT)
    const length = this.#input.varint()
    if (length % kind.width !== 0)
      throw new MalformedBytesError(
        `the length of a ${kind.name} must be a multiple of ${kind.width} (got ${length})`,
      )
    const at = this.#input.skip(length)
    const copy = new Uint8Array(length)
    this.#input.bytes.copy(copy, 0, at, at + length)
    return place === PLAIN_BYTES ? copy : kind.over(copy.buffer)
  }

  #ref(): object {
    this.#weigh(weights.REF_WEIGHT)
    return this.#refs.refOf(this.#input.text())
  }

  #error(depth: number): Error {
    this.#enter(0, 0, depth, weights.ERROR_WEIGHT)
    const prototype = errorPrototype(this.#input.text())
    const hidden = this.#value(depth + 1)
    return makeError(prototype, hidden, this.#value(depth + 1))
  }

  #instance(depth: number): object {
    this.#enter(0, 0, depth, weights.INSTANCE_WEIGHT)
    const type = typeNamed(this.#types, this.#input.text())
    return instanceOf(type, this.#value(depth + 1))
  }

  #enter(count: number, bytesEach: number, depth: number, weight: number): void {
    if (depth >= this.#limits.maxDepth) {
      throw new MalformedBytesError(`nested deeper than ${this.#limits.maxDepth} levels`)
    }
    if (count * bytesEach > this.#input.left) {
      throw new MalformedBytesError(`${count} items do not fit into the remaining ${this.#input.left} bytes`)
    }
    this.#weigh(count + weight)
  }

  #weigh(items: number): void {
    this.#items += items
    if (this.#items > this.#limits.maxItems)
      throw new MalformedBytesError(tooManyToRead(this.#limits.maxItems))
  }
}

/** Arrays up to this length are allocated with their length. */
const MOST_RESERVED = 16

/** After so many new keys in a message, its objects with further new keys become dictionaries. */
const MOST_NEW_KEYS = 1_000

/** The largest bigint that the engine supports. */
const MOST_BIGINT_BYTES = 2 ** 27

const ITEM_BYTES = 24

const NO_BYTES = Buffer.alloc(0)

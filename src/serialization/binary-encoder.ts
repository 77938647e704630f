import type { ByteSink, CodecTools, RefTexts, TypeNames, TypeOnTheWire } from "../ports/codec.js"
import type { CodecLimits } from "./codec-limits.js"
import { errorClassOf, formOf } from "./error-classes.js"
import { fieldsOf } from "./error-fields.js"
import * as weights from "./item-weights.js"
import { CHANGED, FORBIDDEN_KEY, tooDeep, tooMany, whyRefused } from "./refused-value.js"
import { writeBigInt, writeCount, writeFloat, writeNumber, writeTag, writeView } from "./scalars.js"
import * as tags from "./tags.js"
import { writeText } from "./text.js"
import { mapKeyStep, mapValueStep, Trail } from "./trail.js"
import { viewKindOf } from "./view-kinds.js"

/**
 * Encodes values. It keeps its position in the current value, so a getter that encodes another value while it
 * is read needs another encoder.
 *
 * The loops over the keys of an object are `for in` because that is fastest: the engine iterates by the shape
 * of the object without looking keys up, while `Object.keys` would allocate an array.
 */
export class BinaryEncoder {
  readonly #refs: RefTexts
  readonly #types: TypeNames
  readonly #limits: CodecLimits
  readonly #trail: Trail
  #items = 0

  constructor({ refs, types, purpose }: CodecTools, limits: CodecLimits) {
    this.#refs = refs
    this.#types = types
    this.#limits = limits
    this.#trail = new Trail(purpose)
  }

  encode(value: unknown, out: ByteSink): void {
    this.#items = 0
    this.#trail.restart()
    try {
      this.#value(out, value, 0)
    } catch (thrown) {
      throw this.#trail.refusalFor(thrown, value)
    }
  }

  #value(out: ByteSink, value: unknown, depth: number): void {
    switch (typeof value) {
      case "string":
        return writeText(out, value)
      case "number":
        return writeNumber(out, value)
      case "object":
        return value === null ? writeTag(out, tags.NULL) : this.#object(out, value, depth)
      case "boolean":
        return writeTag(out, value ? tags.TRUE : tags.FALSE)
      case "undefined":
        return writeTag(out, tags.UNDEFINED)
      case "bigint":
        return writeBigInt(out, value)
      default:
        throw this.#trail.refusal(whyRefused(value))
    }
  }

  #object(out: ByteSink, value: object, depth: number): void {
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype === Object.prototype || prototype === null) this.#fields(out, value as Fields, depth)
    else if (prototype === Array.prototype) this.#array(out, value as unknown[], depth)
    else this.#instance(out, value, prototype as object, depth)
  }

  #fields(out: ByteSink, value: Fields, depth: number): void {
    let left = 0
    for (const key in value) if (hasOwn.call(value, key)) left += 1
    this.#enter(left + weights.OBJECT_WEIGHT, depth)
    writeCount(out, left, tags.SHORT_OBJECT, tags.OBJECT)
    for (const key in value) {
      if (!hasOwn.call(value, key)) continue
      if (key === "__proto__") throw this.#trail.refusal(FORBIDDEN_KEY)
      if (left === 0) throw this.#trail.refusal(CHANGED)
      left -= 1
      this.#trail.step(depth, key)
      writeText(out, key)
      this.#value(out, value[key], depth + 1)
    }
    if (left !== 0) throw this.#trail.refusal(CHANGED)
  }

  #array(out: ByteSink, value: readonly unknown[], depth: number): void {
    const { length } = value
    this.#enter(length + weights.ARRAY_WEIGHT, depth)
    writeCount(out, length, tags.SHORT_ARRAY, tags.ARRAY)
    for (let index = 0; index < length; index += 1) {
      this.#trail.step(depth, index)
      this.#value(out, value[index], depth + 1)
    }
  }

  #instance(out: ByteSink, value: object, prototype: object, depth: number): void {
    if (this.#refs.isRef(value)) {
      this.#weigh(weights.REF_WEIGHT)
      writeTag(out, tags.REF)
      return writeText(out, this.#refs.textOf(value))
    }
    if (prototype === Map.prototype) return this.#map(out, value as Map<unknown, unknown>, depth)
    if (prototype === Set.prototype) return this.#set(out, value as Set<unknown>, depth)
    if (prototype === Date.prototype) {
      this.#weigh(weights.DATE_WEIGHT)
      return writeFloat(out, tags.DATE, Date.prototype.getTime.call(value))
    }
    const view = viewKindOf(prototype)
    if (view !== undefined) {
      this.#weigh(weights.VIEW_WEIGHT)
      return writeView(out, view, value as ArrayBufferView)
    }
    const type = this.#types.of(value)
    if (type !== undefined) return this.#registered(out, value, type, depth)
    if (value instanceof Error) return this.#error(out, value, errorClassOf(prototype), depth)
    throw this.#trail.refusal(whyRefused(value))
  }

  #map(out: ByteSink, value: Map<unknown, unknown>, depth: number): void {
    let left = value.size
    this.#enter(left + weights.MAP_WEIGHT, depth)
    writeCount(out, left, undefined, tags.MAP)
    let entry = 0
    for (const [key, held] of Map.prototype.entries.call(value)) {
      if (left === 0) throw this.#trail.refusal(CHANGED)
      left -= 1
      this.#trail.step(depth, mapKeyStep(entry))
      this.#value(out, key, depth + 1)
      this.#trail.step(depth, mapValueStep(entry))
      this.#value(out, held, depth + 1)
      entry += 1
    }
    if (left !== 0) throw this.#trail.refusal(CHANGED)
  }

  #set(out: ByteSink, value: Set<unknown>, depth: number): void {
    let left = value.size
    this.#enter(left + weights.SET_WEIGHT, depth)
    writeCount(out, left, undefined, tags.SET)
    let index = 0
    for (const element of Set.prototype.values.call(value)) {
      if (left === 0) throw this.#trail.refusal(CHANGED)
      left -= 1
      this.#trail.step(depth, index)
      this.#value(out, element, depth + 1)
      index += 1
    }
    if (left !== 0) throw this.#trail.refusal(CHANGED)
  }

  #registered(out: ByteSink, value: object, type: TypeOnTheWire, depth: number): void {
    this.#enter(weights.INSTANCE_WEIGHT, depth)
    writeTag(out, tags.INSTANCE)
    writeText(out, type.name)
    const taken = type.take(value, this.#limits)
    this.#trail.step(depth, undefined)
    this.#value(out, taken, depth + 1)
  }

  /** Writes an error; one of an unknown class becomes an `Error` that keeps its name. */
  #error(out: ByteSink, value: Error, name: string | undefined, depth: number): void {
    this.#enter(weights.ERROR_WEIGHT, depth)
    writeTag(out, tags.ERROR)
    writeText(out, name ?? "Error")
    const [hidden, shown] = fieldsOf(value, formOf(name, this.#limits))
    this.#trail.step(depth, undefined)
    this.#fields(out, hidden, depth + 1)
    this.#trail.step(depth, undefined)
    this.#fields(out, shown, depth + 1)
  }

  #enter(items: number, depth: number): void {
    if (depth >= this.#limits.maxDepth) throw this.#trail.refusal(tooDeep(this.#limits.maxDepth))
    this.#weigh(items)
  }

  #weigh(items: number): void {
    this.#items += items
    if (this.#items > this.#limits.maxItems)
      throw this.#trail.refusal(tooMany(this.#limits.maxItems, this.#trail.root))
  }
}

type Fields = Record<string, unknown>

const hasOwn = Object.prototype.hasOwnProperty

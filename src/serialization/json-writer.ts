import type { CodecTools, TypeOnTheWire } from "../ports/codec.js"
import type { CodecLimits } from "./codec-limits.js"
import { errorClassOf, formOf } from "./error-classes.js"
import { fieldsOf } from "./error-fields.js"
import * as weights from "./item-weights.js"
import { MARK, type Marked } from "./json-marks.js"
import { FORBIDDEN_KEY, tooDeep, tooMany, whyRefused } from "./refused-value.js"
import { mapKeyStep, mapValueStep, Trail } from "./trail.js"
import { bytesOf, viewKindOf, viewKinds } from "./view-kinds.js"

/**
 * Encodes one value by converting it to one that `JSON.stringify` writes unchanged: no object in it has a
 * `toJSON` method.
 */
export class JsonWriter {
  readonly #tools: CodecTools
  readonly #limits: CodecLimits
  readonly #trail: Trail
  readonly #errors: boolean
  #items = 0

  /** Without `errors`, errors are refused, as strangers must not read them. */
  constructor(tools: CodecTools, limits: CodecLimits, { errors }: { readonly errors: boolean } = ERRORS) {
    this.#tools = tools
    this.#limits = limits
    this.#errors = errors
    this.#trail = new Trail(tools.purpose)
  }

  write(value: unknown): string {
    try {
      return JSON.stringify(this.#value(value, 0))
    } catch (thrown) {
      throw this.#trail.refusalFor(thrown, value)
    }
  }

  #value(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value
      case "number":
        return isJsonNumber(value) ? value : marked("number", Object.is(value, -0) ? "-0" : String(value))
      case "undefined":
        return marked("undefined", undefined)
      case "bigint":
        return marked("bigint", value.toString(16))
      case "object":
        return value === null ? null : this.#object(value, depth)
      default:
        throw this.#trail.refusal(whyRefused(value))
    }
  }

  #object(value: object, depth: number): unknown {
    const prototype: object | null = Object.getPrototypeOf(value)
    if (prototype === null || prototype === Object.prototype) {
      const fields = this.#fields(value as Fields, depth)
      return MARK in fields ? marked("Object", fields) : fields
    }
    if (prototype === Array.prototype) return this.#elements(value as unknown[], depth)
    return this.#instance(value, prototype, depth)
  }

  #fields(value: Fields, depth: number): Fields {
    const keys = Object.keys(value)
    this.#enter(keys.length + weights.OBJECT_WEIGHT, depth)
    const fields = Object.create(null) as Fields
    for (const key of keys) {
      if (key === "__proto__") throw this.#trail.refusal(FORBIDDEN_KEY)
      this.#trail.step(depth, key)
      fields[key] = this.#value(value[key], depth + 1)
    }
    return fields
  }

  #elements(value: readonly unknown[], depth: number, weight: number = weights.ARRAY_WEIGHT): unknown[] {
    const { length } = value
    this.#enter(length + weight, depth)
    const elements: unknown[] = []
    for (let index = 0; index < length; index += 1) {
      this.#trail.step(depth, index)
      elements.push(this.#value(value[index], depth + 1))
    }
    return elements
  }

  #instance(value: object, prototype: object, depth: number): Marked {
    if (this.#tools.refs.isRef(value)) {
      this.#weigh(weights.REF_WEIGHT)
      return marked("ref", this.#tools.refs.textOf(value))
    }
    if (prototype === Map.prototype) return this.#map(value as Map<unknown, unknown>, depth)
    if (prototype === Set.prototype) {
      return marked("Set", this.#elements([...Set.prototype.values.call(value)], depth, weights.SET_WEIGHT))
    }
    if (prototype === Date.prototype) {
      this.#weigh(weights.DATE_WEIGHT)
      const time = Date.prototype.getTime.call(value)
      return marked("Date", Number.isNaN(time) ? null : time)
    }
    const view = viewKinds[viewKindOf(prototype) ?? -1]
    if (view !== undefined) {
      this.#weigh(weights.VIEW_WEIGHT)
      return marked(view.name, base64(value as ArrayBufferView))
    }
    const type = this.#tools.types.of(value)
    if (type !== undefined) return this.#registered(value, type, depth)
    if (value instanceof Error && this.#errors) return this.#error(value, errorClassOf(prototype), depth)
    throw this.#trail.refusal(whyRefused(value))
  }

  #map(value: Map<unknown, unknown>, depth: number): Marked {
    const entries = [...Map.prototype.entries.call(value)]
    this.#enter(entries.length + weights.MAP_WEIGHT, depth)
    const pairs = entries.map(([key, held], entry) => {
      this.#trail.step(depth, mapKeyStep(entry))
      const sentKey = this.#value(key, depth + 1)
      this.#trail.step(depth, mapValueStep(entry))
      return [sentKey, this.#value(held, depth + 1)]
    })
    return marked("Map", pairs)
  }

  #registered(value: object, type: TypeOnTheWire, depth: number): Marked {
    this.#enter(weights.INSTANCE_WEIGHT, depth)
    const taken = type.take(value, this.#limits)
    this.#trail.step(depth, undefined)
    return { [MARK]: "type", of: type.name, v: this.#value(taken, depth + 1) }
  }

  #error(value: Error, name: string | undefined, depth: number): Marked {
    this.#enter(weights.ERROR_WEIGHT, depth)
    const [hidden, shown] = fieldsOf(value, formOf(name, this.#limits))
    this.#trail.step(depth, undefined)
    const sentHidden = this.#fields(hidden, depth + 1)
    this.#trail.step(depth, undefined)
    return { [MARK]: "Error", of: name ?? "Error", v: [sentHidden, this.#fields(shown, depth + 1)] }
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

const ERRORS = { errors: true }

type Fields = Record<string, unknown>

function marked(mark: string, v: unknown): Marked {
  return { [MARK]: mark, v }
}

function isJsonNumber(value: number): boolean {
  return Number.isFinite(value) && !Object.is(value, -0)
}

function base64(value: ArrayBuffer | ArrayBufferView): string {
  const { buffer, byteOffset, byteLength } = bytesOf(value)
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64")
}

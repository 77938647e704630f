import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { CodecTools } from "../ports/codec.js"
import type { CodecLimits } from "./codec-limits.js"
import { errorPrototype } from "./error-classes.js"
import { makeError } from "./error-fields.js"
import { isSparseIndex, keepInTable } from "./index-keys.js"
import { instanceOf, typeNamed } from "./instances.js"
import * as weights from "./item-weights.js"
import { MARK, type Marked } from "./json-marks.js"
import { KEYS_IN_A_BATCH, KeyTime } from "./key-time.js"
import { tooManyToRead } from "./refused-value.js"
import { viewKinds } from "./view-kinds.js"

/**
 * Decodes the result of `JSON.parse`, which is untrusted: every part is checked.
 */
export class JsonReader {
  readonly #tools: CodecTools
  readonly #limits: CodecLimits
  readonly #keyTime: KeyTime
  readonly #errors: boolean
  #items = 0

  /** Without `errors`, errors are refused: strangers do not make instances of classes. */
  constructor(tools: CodecTools, limits: CodecLimits, { errors }: { readonly errors: boolean } = ERRORS) {
    this.#tools = tools
    this.#limits = limits
    this.#errors = errors
    this.#keyTime = new KeyTime(tools.clock)
    this.#keyTime.begin()
  }

  read(json: unknown): unknown {
    return this.#value(json, 0)
  }

  #value(json: unknown, depth: number): unknown {
    if (typeof json !== "object" || json === null) return json
    if (Array.isArray(json)) return this.#elements(json, depth)
    return Object.hasOwn(json, MARK) ? this.#marked(json as Marked, depth) : this.#fields(json, depth)
  }

  #elements(json: readonly unknown[], depth: number): unknown[] {
    this.#enter(json.length + weights.ARRAY_WEIGHT, depth)
    return json.map((element) => this.#value(element, depth + 1))
  }

  #fields(json: object, depth: number): Record<string, unknown> {
    const keys = Object.keys(json)
    this.#enter(keys.length + weights.OBJECT_WEIGHT, depth)
    const made: Record<string, unknown> = {}
    // Keys that are indexes come first, in ascending order.
    if (keys.some((key) => isSparseIndex(key, keys.length))) keepInTable(made)
    for (const key of keys) {
      if (key === "__proto__") throw new MalformedBytesError("an object has the key __proto__")
      made[key] = this.#value((json as Record<string, unknown>)[key], depth + 1)
    }
    return made
  }

  #marked({ [MARK]: mark, of, v }: Marked, depth: number): unknown {
    switch (mark) {
      case "undefined":
        return undefined
      case "number":
        return numbers.get(text(v)) ?? unreadable("number")
      case "bigint":
        return bigintOf(text(v))
      case "Object":
        return this.#fields(object(v), depth)
      case "ref":
        this.#weigh(weights.REF_WEIGHT)
        return this.#tools.refs.refOf(text(v))
      case "Date":
        this.#weigh(weights.DATE_WEIGHT)
        return dateOf(v)
      case "Map":
        return this.#map(list(v), depth)
      case "Set":
        return this.#set(list(v), depth)
      case "Error":
        if (!this.#errors) throw new MalformedBytesError("errors are not accepted here")
        return this.#error(text(of), v, depth)
      case "type":
        return this.#instance(text(of), v, depth)
      default:
        this.#weigh(weights.VIEW_WEIGHT)
        return viewOf(mark, v)
    }
  }

  #map(pairs: readonly unknown[], depth: number): Map<unknown, unknown> {
    this.#enter(pairs.length + weights.MAP_WEIGHT, depth)
    const made = new Map<unknown, unknown>()
    for (let from = 0; from < pairs.length; from += KEYS_IN_A_BATCH) {
      const sent = pairs.slice(from, from + KEYS_IN_A_BATCH).flatMap(pairOf)
      this.#keyTime.setAll(
        made,
        sent.map((one) => this.#value(one, depth + 1)),
      )
    }
    return made
  }

  #set(elements: readonly unknown[], depth: number): Set<unknown> {
    this.#enter(elements.length + weights.SET_WEIGHT, depth)
    const made = new Set<unknown>()
    for (let from = 0; from < elements.length; from += KEYS_IN_A_BATCH) {
      const sent = elements.slice(from, from + KEYS_IN_A_BATCH)
      this.#keyTime.addAll(
        made,
        sent.map((one) => this.#value(one, depth + 1)),
      )
    }
    return made
  }

  #error(name: string, v: unknown, depth: number): Error {
    this.#enter(weights.ERROR_WEIGHT, depth)
    const [hidden, shown] = pairOf(v)
    const madeHidden = this.#fields(object(hidden), depth + 1)
    return makeError(errorPrototype(name), madeHidden, this.#fields(object(shown), depth + 1))
  }

  #instance(name: string, v: unknown, depth: number): object {
    this.#enter(weights.INSTANCE_WEIGHT, depth)
    const type = typeNamed(this.#tools.types, name)
    return instanceOf(type, this.#value(v, depth + 1))
  }

  #enter(items: number, depth: number): void {
    const { maxDepth } = this.#limits
    if (depth >= maxDepth) {
      throw new MalformedBytesError(`nested deeper than ${maxDepth} levels`)
    }
    this.#weigh(items)
  }

  #weigh(items: number): void {
    const { maxItems } = this.#limits
    this.#items += items
    if (this.#items > maxItems) throw new MalformedBytesError(tooManyToRead(maxItems))
  }
}

const ERRORS = { errors: true }

const numbers: ReadonlyMap<string, number> = new Map([
  ["NaN", Number.NaN],
  ["-0", -0],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
])

function bigintOf(digits: string): bigint {
  if (!/^-?[0-9a-f]+$/.test(digits) || digits.length > MOST_HEX_DIGITS) unreadable("bigint")
  return digits.startsWith("-") ? -BigInt(`0x${digits.slice(1)}`) : BigInt(`0x${digits}`)
}

/** The largest bigint that the engine supports. */
const MOST_HEX_DIGITS = 2 ** 28

function dateOf(v: unknown): Date {
  if (v !== null && typeof v !== "number") unreadable("Date")
  return new Date(v === null ? Number.NaN : (v as number))
}

function viewOf(mark: unknown, v: unknown): object {
  const kind = viewKinds.find(({ name }) => name === mark)
  if (kind === undefined) throw new MalformedBytesError("a marked object has an unknown kind")
  const encoded = text(v)
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded) || encoded.length % 4 !== 0) unreadable(kind.name)
  const bytes = Buffer.from(encoded, "base64")
  if (bytes.length % kind.width !== 0) unreadable(kind.name)
  return kind.over(new Uint8Array(bytes).buffer)
}

function text(v: unknown): string {
  return typeof v === "string" ? v : unreadable("string")
}

function list(v: unknown): readonly unknown[] {
  return Array.isArray(v) ? v : unreadable("list")
}

function pairOf(v: unknown): readonly unknown[] {
  const pair = list(v)
  return pair.length === 2 ? pair : unreadable("pair")
}

function object(v: unknown): object {
  return typeof v === "object" && v !== null && !Array.isArray(v) ? v : unreadable("object")
}

function unreadable(what: string): never {
  throw new MalformedBytesError(`a marked object must have a value of type ${what}`)
}

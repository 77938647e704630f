/**
 * What the threads send to each other at once, in the order in which it was added. Cloning the objects takes
 * several times as long, mostly because of the many small byte arrays, and half of that time on the event
 * loop. Commits, and the answers to those that were made, are nearly all that is sent. For these even JSON
 * takes long, so they consist of words, which are joined, and numbers, which are in an array.
 */
export interface Parcel {
  /** On the clock that all threads share. */
  readonly sentAtMs: number
  /** The items as JSON. A number stands for so many items of words and numbers. */
  readonly text: string
  /** Separated by line feeds. */
  readonly words: string
  /** The numbers, followed by the bytes. */
  readonly buffer: ArrayBuffer
  readonly numbers: number
  /** How long the worker took for the lock and the flush of its last transaction, in its parcels. */
  readonly fixedMs?: number
}

/** The start and the end in the bytes of the parcel. */
export type Slice = readonly [from: number, to: number]

/** A parcel under construction. Bytes are copied at the call. */
export class Packing<T> {
  #items: (T | number)[] = []
  #words: string[] = []
  #numbers = new Float64Array(FIRST_NUMBERS)
  #count = 0
  #bytes = new Uint8Array(FIRST_BYTES)
  #length = 0

  get isEmpty(): boolean {
    return this.#items.length === 0
  }

  /** The number of bytes besides the items. */
  get length(): number {
    return this.#length
  }

  add(item: T): void {
    this.#items.push(item)
  }

  /** Adds an item that consists of the words and numbers that follow, up to the next item. */
  addPacked(): void {
    const last = this.#items.at(-1)
    if (typeof last === "number") this.#items[this.#items.length - 1] = last + 1
    else this.#items.push(1)
  }

  /** Adds a text without line feeds. */
  word(word: string): void {
    this.#words.push(word)
  }

  number(value: number): void {
    if (this.#count === this.#numbers.length) {
      const numbers = new Float64Array(2 * this.#count)
      numbers.set(this.#numbers)
      this.#numbers = numbers
    }
    this.#numbers[this.#count] = value
    this.#count += 1
  }

  bytes(value: Uint8Array): Slice {
    const from = this.#length
    this.append(value)
    return [from, this.#length]
  }

  append(value: Uint8Array): void {
    const to = this.#length + value.length
    if (to > this.#bytes.length) this.#grow(to)
    this.#bytes.set(value, this.#length)
    this.#length = to
  }

  /** Removes and returns everything that was added. */
  take(sentAtMs: number): Parcel {
    const numbers = this.#count
    const buffer = new ArrayBuffer(8 * numbers + this.#length)
    new Float64Array(buffer, 0, numbers).set(this.#numbers.subarray(0, numbers))
    new Uint8Array(buffer, 8 * numbers).set(this.#bytes.subarray(0, this.#length))
    const [text, words] = [JSON.stringify(this.#items), this.#words.join("\n")]
    this.#items = []
    this.#words = []
    this.#count = 0
    this.#length = 0
    if (this.#bytes.length > MOST_KEPT_BYTES) this.#bytes = new Uint8Array(FIRST_BYTES)
    if (this.#numbers.length > MOST_KEPT_NUMBERS) this.#numbers = new Float64Array(FIRST_NUMBERS)
    return { sentAtMs, text, words, buffer, numbers }
  }

  #grow(least: number): void {
    const bytes = new Uint8Array(Math.max(least, 2 * this.#bytes.length))
    bytes.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = bytes
  }
}

/** Reads a parcel. */
export class Unpacking {
  readonly bytes: Uint8Array
  readonly #text: string
  readonly #words: readonly string[]
  readonly #numbers: Float64Array
  #nextWord = 0
  #nextNumber = 0

  constructor({ text, words, buffer, numbers }: Parcel) {
    this.#text = text
    this.#words = words.split("\n")
    this.#numbers = new Float64Array(buffer, 0, numbers)
    this.bytes = new Uint8Array(buffer, 8 * numbers)
  }

  /** Returns all items; `unpack` reads one that was packed, with `word` and `number`. */
  items<T>(unpack: (packed: Unpacking) => T): T[] {
    const items: T[] = []
    for (const item of JSON.parse(this.#text) as (T | number)[]) {
      if (typeof item !== "number") items.push(item)
      else for (let left = item; left > 0; left -= 1) items.push(unpack(this))
    }
    return items
  }

  word(): string {
    const word = this.#words[this.#nextWord]
    this.#nextWord += 1
    return word as string
  }

  number(): number {
    const value = this.#numbers[this.#nextNumber]
    this.#nextNumber += 1
    return value as number
  }
}

const FIRST_NUMBERS = 1024
const FIRST_BYTES = 16 * 1024
const MOST_KEPT_NUMBERS = 64 * 1024
const MOST_KEPT_BYTES = 1024 * 1024

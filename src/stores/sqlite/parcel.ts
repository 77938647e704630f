/**
 * What the threads send to each other at once: JSON, and the bytes that it refers to, concatenated. Cloning
 * the objects directly takes several times as long, mostly because of the many small byte arrays, and half of
 * that time on the event loop.
 */
export interface Parcel {
  /** On the clock that all threads share. */
  readonly sentAtMs: number
  readonly text: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** How long the worker took for its last transaction, in its parcels. */
  readonly tookMs?: number
}

/** The start and the end in the bytes of the parcel. */
export type Slice = readonly [from: number, to: number]

/** A parcel under construction. Bytes are copied at the call. */
export class Packing<T> {
  #items: T[] = []
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
    const parcel = { sentAtMs, text: JSON.stringify(this.#items), bytes: this.#bytes.slice(0, this.#length) }
    this.#items = []
    this.#length = 0
    if (this.#bytes.length > MOST_KEPT_BYTES) this.#bytes = new Uint8Array(FIRST_BYTES)
    return parcel
  }

  #grow(least: number): void {
    const bytes = new Uint8Array(Math.max(least, 2 * this.#bytes.length))
    bytes.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = bytes
  }
}

export function itemsOf<T>({ text }: Parcel): readonly T[] {
  return JSON.parse(text)
}

const FIRST_BYTES = 16 * 1024
const MOST_KEPT_BYTES = 1024 * 1024

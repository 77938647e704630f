/**
 * What goes between the threads at once: JSON, and beside it the bytes that it speaks of, one after the
 * other. Cloning the objects as they are takes several times as long, mostly for the many small arrays of
 * bytes, and half of that on the event loop.
 */
export interface Parcel {
  /** On the clock that all threads share. */
  readonly sentAtMs: number
  readonly text: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** From where to where in the bytes of the parcel. */
export type Slice = readonly [from: number, to: number]

/** What is yet to be sent. Bytes are taken at the call. */
export class Packing<T> {
  #items: T[] = []
  #bytes = new Uint8Array(FIRST_BYTES)
  #length = 0

  get isEmpty(): boolean {
    return this.#items.length === 0
  }

  /** How many bytes there are beside the items. */
  get length(): number {
    return this.#length
  }

  add(item: T): void {
    this.#items.push(item)
  }

  bytes(value: Uint8Array): Slice {
    const from = this.#length
    const to = from + value.length
    if (to > this.#bytes.length) this.#grow(to)
    this.#bytes.set(value, from)
    this.#length = to
    return [from, to]
  }

  /** All that was added, which is not here any more then. */
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

/**
 * A map from ascending numbers, of which the first ones are usually removed first. Entries are in a ring, so
 * that adding and removing allocates nothing: a `Map` makes itself a new table every few changes, and what
 * such a table once contained is kept by it for longer than needed.
 */
export class ByNumber<T> {
  #ring = emptyRing<T>(FIRST_SLOTS)
  /** The lowest number that may be here. */
  #from = 0
  /** Above all numbers that are here. */
  #to = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The number must be above all that were added. */
  add(number: number, value: T): void {
    if (this.#size === 0) {
      this.#from = number
      if (this.#ring.length > MOST_KEPT_SLOTS) this.#ring = emptyRing(FIRST_SLOTS)
    }
    while (number - this.#from >= this.#ring.length) this.#grow()
    this.#to = number + 1
    this.#ring[number & (this.#ring.length - 1)] = value
    this.#size += 1
  }

  get(number: number): T | undefined {
    if (number < this.#from || number >= this.#to) return undefined
    return this.#ring[number & (this.#ring.length - 1)]
  }

  delete(number: number): void {
    if (this.get(number) === undefined) return
    this.#ring[number & (this.#ring.length - 1)] = undefined
    this.#size -= 1
    while (this.#from < this.#to && this.get(this.#from) === undefined) this.#from += 1
  }

  /** The entries by their numbers. Any of them may be deleted meanwhile. */
  *[Symbol.iterator](): Generator<readonly [number, T]> {
    for (let number = this.#from; number < this.#to; number += 1) {
      const value = this.get(number)
      if (value !== undefined) yield [number, value]
    }
  }

  #grow(): void {
    const larger = emptyRing<T>(2 * this.#ring.length)
    for (const [number, value] of this) larger[number & (larger.length - 1)] = value
    this.#ring = larger
  }
}

function emptyRing<T>(slots: number): (T | undefined)[] {
  return new Array<T | undefined>(slots).fill(undefined)
}

/** A power of two, as are all sizes. */
const FIRST_SLOTS = 64
const MOST_KEPT_SLOTS = 4_096

import { assert } from "../errors/assert.js"
import type { MonotonicMs } from "../ports/clock.js"

/** Something that waits to be sent. */
export interface Parcel {
  readonly bytes: number
  /** Whether it waits in a queue; the queue's to change. */
  waiting: boolean
}

/** How many parcels wait in all queues of a system together. */
export interface DeferredCount {
  count: number
}

interface Place<P> {
  readonly parcel: P
  readonly since: MonotonicMs
}

/**
 * Parcels in the order of their sending. One that is withdrawn counts no more from then on; its place is
 * given up when its turn comes, or when such places are the larger half.
 */
export class DeferredQueue<P extends Parcel> {
  readonly #all: DeferredCount
  /** Those before the head have been taken. */
  #places: (Place<P> | undefined)[] = []
  #head = 0
  #size = 0
  #bytes = 0

  constructor(all: DeferredCount) {
    this.#all = all
  }

  get size(): number {
    return this.#size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** When the first of them came. */
  get oldest(): MonotonicMs | undefined {
    return this.#first()?.since
  }

  push(parcel: P, now: MonotonicMs): void {
    this.#places.push({ parcel, since: now })
    this.#count(parcel, true)
  }

  shift(): P | undefined {
    const first = this.#first()
    if (first === undefined) return undefined
    this.#places[this.#head] = undefined
    this.#head += 1
    this.#count(first.parcel, false)
    return first.parcel
  }

  /** Takes the newest until no more than `size` are left. */
  trim(size: number): P[] {
    const cut: P[] = []
    while (this.#size > size) {
      const { parcel } = this.#places.pop() as Place<P>
      if (!parcel.waiting) continue
      this.#count(parcel, false)
      cut.push(parcel)
    }
    return cut.reverse()
  }

  /** Takes those that have waited for `ms` or longer. */
  expire(ms: number, now: MonotonicMs): P[] {
    const expired: P[] = []
    for (let since = this.oldest; since !== undefined && since + ms <= now; since = this.oldest) {
      expired.push(this.shift() as P)
    }
    return expired
  }

  takeAll(): P[] {
    const all: P[] = []
    for (let parcel = this.shift(); parcel !== undefined; parcel = this.shift()) all.push(parcel)
    return all
  }

  /** False if it is not waiting here any more. */
  withdraw(parcel: P): boolean {
    if (!parcel.waiting) return false
    this.#count(parcel, false)
    if (this.#places.length - this.#head > 64 + 2 * this.#size) this.#compact()
    return true
  }

  #first(): Place<P> | undefined {
    while (this.#places[this.#head]?.parcel.waiting === false) this.#head += 1
    const first = this.#places[this.#head]
    if (first === undefined || (this.#head > 64 && this.#head * 2 > this.#places.length)) this.#compact()
    return first
  }

  #compact(): void {
    this.#places = this.#places.slice(this.#head).filter((place) => place?.parcel.waiting)
    this.#head = 0
  }

  #count(parcel: P, waiting: boolean): void {
    assert(parcel.waiting !== waiting, "a parcel is counted twice")
    const sign = waiting ? 1 : -1
    parcel.waiting = waiting
    this.#size += sign
    this.#all.count += sign
    this.#bytes += sign * parcel.bytes
    assert(this.#size >= 0 && this.#bytes >= 0, "a queue of parcels has less than none")
    assert(this.#all.count >= this.#size, "a queue has more parcels than all queues together")
  }
}

import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"

/**
 * Many deadlines on one timer.
 *
 * Most deadlines are removed before they expire, because the answer comes first. Adding and removing must
 * therefore cost almost nothing, while expiry may be coarse. Deadlines are kept in slots of 5 ms, each a
 * linked ring, from which an entry is removed without a search.
 *
 * Adding reads no clock. An entry goes to a ring by its duration, and the timer reads the time once for all
 * new rings and dates them. It does so within 1/32 of the duration. A deadline therefore never expires early,
 * and expires at most 3 % or 15 ms late, whichever is more, unless the event loop was blocked. The ends of
 * long durations are rounded up to 1/128 of the duration; otherwise every tick would leave rings of its own,
 * which all later ticks visit. A timer that fired every few milliseconds would be more exact, but would make
 * every wait for a socket about a fifth more expensive.
 */
export class Deadlines {
  readonly #clock: Clock
  /** Rings by the slot in which they expire. */
  readonly #dated = new Map<number, Ring>()
  /** Rings by duration in slots: entries added since the last tick. */
  readonly #fresh = new Map<number, Ring>()
  #timer: Timer | undefined
  #timerAt: MonotonicMs = Number.POSITIVE_INFINITY
  /** The ring of the last entry: the next entry is likely to have the same duration. */
  #latest = Number.NaN
  #latestRing = new Ring()
  #isStopped = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The number of waiting entries. */
  get size(): number {
    return [...this.#fresh.values(), ...this.#dated.values()].reduce((size, ring) => size + ring.size, 0)
  }

  /** The number of rings, which is what a tick costs. */
  get rings(): number {
    return this.#fresh.size + this.#dated.size
  }

  /** Adds an entry. After `stop` the entry is abandoned at once. */
  add(entry: Deadline, delayMs: number): void {
    const slots = Math.ceil(delayMs / SLOT_MS)
    if (slots === this.#latest || this.#openRing(slots)) enter(entry, this.#latestRing)
    else entry.abandon()
  }

  /** Abandons all entries, and every later one: from now on no timer keeps the process alive. */
  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
    this.#timerAt = Number.POSITIVE_INFINITY
    const all = new Ring()
    for (const ring of [...this.#fresh.values(), ...this.#dated.values()]) all.takeOver(ring)
    this.#fresh.clear()
    this.#dated.clear()
    this.#latest = Number.NaN
    all.drain((entry) => entry.abandon())
  }

  #openRing(slots: number): boolean {
    if (this.#isStopped) return false
    let ring = this.#fresh.get(slots)
    if (ring === undefined) {
      ring = new Ring()
      this.#fresh.set(slots, ring)
      const waitMs = Math.min(Math.max(slots >> 5, 1) * SLOT_MS, LONGEST_UNDATED_MS)
      this.#wakeAt(this.#clock.monotonicMs() + waitMs)
    }
    this.#latest = slots
    this.#latestRing = ring
    return true
  }

  #wakeAt(at: MonotonicMs, now = this.#clock.monotonicMs()): void {
    if (at >= this.#timerAt) return
    this.#timer?.cancel()
    this.#timerAt = at
    this.#timer = this.#clock.setTimer(at - now, this.#onTimer)
  }

  readonly #onTimer = (): void => {
    this.#timerAt = Number.POSITIVE_INFINITY
    const now = this.#clock.monotonicMs()
    this.#date(now)
    const due = new Ring()
    let first = Number.POSITIVE_INFINITY
    for (const [slot, ring] of this.#dated) {
      if (slot * SLOT_MS > now && !ring.isEmpty) first = Math.min(first, slot)
      else {
        due.takeOver(ring)
        this.#dated.delete(slot)
      }
    }
    if (first < Number.POSITIVE_INFINITY) this.#wakeAt(first * SLOT_MS, now)
    due.drain((entry) => entry.expire())
  }

  #date(now: MonotonicMs): void {
    for (const [slots, ring] of this.#fresh) {
      const grain = grainOf(slots)
      const slot = Math.ceil((Math.ceil(now / SLOT_MS) + slots) / grain) * grain
      const dated = this.#dated.get(slot)
      if (dated === undefined) this.#dated.set(slot, ring)
      else dated.takeOver(ring)
    }
    this.#fresh.clear()
    this.#latest = Number.NaN
  }
}

interface Entry {
  previous: Entry | undefined
  next: Entry | undefined
}

/** An object with a deadline; `previous` and `next` belong to the ring that it is in. */
export interface Deadline extends Entry {
  /** Called when the deadline has passed. The entry has already been removed. */
  expire(): void
  /** Called when the deadlines have been stopped. The entry has already been removed. */
  abandon(): void
}

/** Removes a deadline, whether or not it is waiting. */
export function leave(entry: Entry): void {
  if (entry.next === undefined) return
  ;(entry.previous as Entry).next = entry.next
  entry.next.previous = entry.previous
  entry.previous = undefined
  entry.next = undefined
}

function enter(entry: Entry, slot: Entry): void {
  entry.previous = slot.previous
  entry.next = slot
  ;(slot.previous as Entry).next = entry
  slot.previous = entry
}

/** The head of a ring of entries; an empty ring points to itself. */
class Ring implements Entry {
  previous: Entry = this
  next: Entry = this

  get size(): number {
    let size = 0
    for (let entry = this.next; entry !== this; entry = entry.next as Entry) size += 1
    return size
  }

  get isEmpty(): boolean {
    return this.next === this
  }

  /**
   * Removes entries one by one, because the callback of one may remove another. If a callback throws, the
   * others still run, and the error is thrown at the end.
   */
  drain(each: (entry: Deadline) => void): void {
    const thrown: unknown[] = []
    while (this.next !== this) {
      const entry = this.next as Deadline
      leave(entry)
      try {
        each(entry)
      } catch (error) {
        thrown.push(error)
      }
    }
    if (thrown.length === 1) throw thrown[0]
    if (thrown.length > 1) throw new AggregateError(thrown, `${thrown.length} deadlines failed`)
  }

  /** Moves all entries of another ring to this one. */
  takeOver(other: Ring): void {
    if (other.isEmpty) return
    const first = other.next
    const last = other.previous
    first.previous = this.previous
    this.previous.next = first
    last.next = this
    this.previous = last
    other.next = other
    other.previous = other
  }
}

/** The granularity of the end of a duration; up to a minute it is one slot. */
function grainOf(slots: number): number {
  return slots <= 12_000 ? 1 : 2 ** (Math.floor(Math.log2(slots)) - 7)
}

const SLOT_MS = 5
const LONGEST_UNDATED_MS = 250

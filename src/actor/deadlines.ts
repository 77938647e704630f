import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"

/**
 * A great many deadlines on one timer.
 *
 * Most deadlines never come: the answer is there long before. So entering and leaving must cost next to
 * nothing, and the firing may be coarse. Deadlines wait in slots of 5 ms, each a ring that an entry leaves
 * without a search.
 *
 * Entering reads no clock. An entry goes to a ring for how long it is to wait, and the timer reads the time
 * once for all rings that are new and dates them. It does so within a thirty-second part of the wait: so a
 * deadline is never early, and may be 3 in a hundred late, or 15 ms if that is more, or later if the event
 * loop was held up. The ends of long waits are rounded up to a 128th of the wait, or every tick would leave
 * rings of its own behind, which all later ticks look at. A timer that fired every few milliseconds would be
 * more exact, and would make each wait for a socket dearer by a fifth, whoever it is that waits.
 */
export class Deadlines {
  readonly #clock: Clock
  /** By when they end, in slots of the clock. */
  readonly #dated = new Map<number, Ring>()
  /** By how long they last, in slots: entered since the last tick. */
  readonly #fresh = new Map<number, Ring>()
  #timer: Timer | undefined
  #timerAt: MonotonicMs = Number.POSITIVE_INFINITY
  /** The ring that was entered last: the next deadline is likely to be in it too. */
  #latest = Number.NaN
  #latestRing = new Ring()
  #isStopped = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How many are waiting. */
  get size(): number {
    return [...this.#fresh.values(), ...this.#dated.values()].reduce((size, ring) => size + ring.size, 0)
  }

  /** How many rings they wait in: what a tick costs. */
  get rings(): number {
    return this.#fresh.size + this.#dated.size
  }

  /** After `stop` the entry is abandoned at once. */
  add(entry: Deadline, delayMs: number): void {
    const slots = Math.ceil(delayMs / SLOT_MS)
    if (slots === this.#latest || this.#openRing(slots)) enter(entry, this.#latestRing)
    else entry.abandon()
  }

  /** Ends all that wait, and all that comes after: from here on no timer keeps the process alive. */
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

/** Something with a deadline; `previous` and `next` are for the list that it waits in. */
export interface Deadline extends Entry {
  /** The deadline has come. It has left already. */
  expire(): void
  /** Nobody keeps the time any more. It has left already. */
  abandon(): void
}

/** Takes a deadline back, whether or not it is waiting. */
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

/** A ring of entries, by its head: empty when that follows itself. */
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
   * Takes entries out one by one: what is done with one may make another leave. One that throws keeps none of
   * the others waiting; what was thrown is thrown when all are through.
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

  /** Takes all entries of another ring. */
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

/** Waits of up to a minute end in a slot of their own. */
function grainOf(slots: number): number {
  return slots <= 12_000 ? 1 : 2 ** (Math.floor(Math.log2(slots)) - 7)
}

const SLOT_MS = 5
const LONGEST_UNDATED_MS = 250

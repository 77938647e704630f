import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"

/**
 * A great many deadlines on one timer.
 *
 * Most deadlines never come: the answer is there long before. So entering and leaving must cost next to nothing, and the
 * firing may be coarse. Deadlines are kept in slots of 5 ms, each a linked list that an entry leaves without a search.
 * The time is not read for every entry: while entries keep coming, the timer ticks once per slot and keeps the time; when
 * they stop coming it sleeps until the first slot that holds one, and the next entry reads the clock again. A deadline
 * fires no sooner than it was set for, and at most two slots late.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #slots = new Map<number, Slot>()
  #timer: Timer | undefined
  /** The slot that the present is in, as of the last look at the clock. */
  #current = 0
  /** Whether the timer ticks, which keeps `#current` true. */
  #ticking = false
  #entered = false
  /** The slot that was entered last: the next deadline is likely to be in it too. */
  #latest = Number.NaN
  #latestSlot = new Slot()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How many are waiting. */
  get size(): number {
    let size = 0
    for (const slot of this.#slots.values()) {
      for (let entry = slot.next; entry !== slot; entry = entry.next as Entry) size += 1
    }
    return size
  }

  add(entry: Deadline, delayMs: number): void {
    if (!this.#ticking) this.#tick()
    this.#entered = true
    const at = this.#current + Math.ceil(delayMs / SLOT_MS) + 1
    if (at !== this.#latest) this.#openSlot(at)
    enter(entry, this.#latestSlot)
  }

  #openSlot(at: number): void {
    const slot = this.#slots.get(at) ?? new Slot()
    this.#slots.set(at, slot)
    this.#latest = at
    this.#latestSlot = slot
  }

  /** Fires nothing more. */
  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#ticking = false
    this.#slots.clear()
    this.#latest = Number.NaN
  }

  #tick(): void {
    this.#timer?.cancel()
    this.#current = slotOf(this.#clock.monotonicMs())
    this.#ticking = true
    this.#timer = this.#clock.setTimer(SLOT_MS, this.#onTimer)
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined
    const now = slotOf(this.#clock.monotonicMs())
    this.#current = now
    const due: Deadline[] = []
    let first = Number.POSITIVE_INFINITY
    for (const [at, slot] of this.#slots) {
      if (at > now && slot.next !== slot) first = Math.min(first, at)
      else {
        slot.empty(due)
        this.#slots.delete(at)
        if (at === this.#latest) this.#latest = Number.NaN
      }
    }
    for (const entry of due) entry.expire()
    if (this.#timer !== undefined) return
    if (this.#entered) {
      this.#entered = false
      this.#tick()
    } else {
      this.#ticking = false
      if (first < Number.POSITIVE_INFINITY)
        this.#timer = this.#clock.setTimer((first - now) * SLOT_MS, this.#onTimer)
    }
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

/** The head of a ring: empty when it follows itself. */
class Slot implements Entry {
  previous: Entry = this
  next: Entry = this

  empty(into: Deadline[]): void {
    while (this.next !== this) {
      const entry = this.next as Deadline
      leave(entry)
      into.push(entry)
    }
  }
}

const SLOT_MS = 5

function slotOf(now: MonotonicMs): number {
  return Math.floor(now / SLOT_MS)
}

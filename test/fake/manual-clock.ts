import type { Clock, Timer } from "../../src/ports/clock.js"

interface Waiting {
  readonly at: number
  readonly fire: () => void
}

/** A clock that only moves when a test moves it. */
export class ManualClock implements Clock {
  readonly #waiting = new Set<Waiting>()
  #now = 0
  #wallAheadMs = 0

  wallMs(): number {
    return this.#now + this.#wallAheadMs
  }

  monotonicMs(): number {
    return this.#now
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    const waiting = { at: this.#now + Math.max(0, delayMs), fire }
    this.#waiting.add(waiting)
    return { cancel: () => this.#waiting.delete(waiting) }
  }

  get pendingTimers(): number {
    return this.#waiting.size
  }

  /** Moves the wall clock alone, as on a machine that was suspended. */
  jumpWall(byMs: number): void {
    this.#wallAheadMs += byMs
  }

  /** Moves time without firing timers, as during a long computation. */
  holdUp(forMs: number): void {
    this.#now += forMs
  }

  /** Moves time, fires every timer at its due time, and awaits the work that each of them starts. */
  async advance(byMs: number): Promise<void> {
    const until = this.#now + byMs
    await settle()
    for (let next = this.#earliest(until); next !== undefined; next = this.#earliest(until)) {
      this.#waiting.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.fire()
      await settle()
    }
    this.#now = until
  }

  #earliest(until: number): Waiting | undefined {
    let earliest: Waiting | undefined
    for (const waiting of this.#waiting) {
      if (waiting.at <= until && (earliest === undefined || waiting.at < earliest.at)) earliest = waiting
    }
    return earliest
  }
}

/** Resolves when no work is left at this instant: neither microtasks nor tasks yielded to the event loop. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 4; round += 1) await new Promise((resolve) => setImmediate(resolve))
}

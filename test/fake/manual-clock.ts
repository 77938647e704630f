import type { Clock, Timer } from "../../src/ports/clock.js"

interface Waiting {
  readonly at: number
  readonly fire: () => void
}

/** Time that stands still until a test moves it. */
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

  /** The wall clock runs ahead, as it does on a machine that was suspended. */
  jumpWall(byMs: number): void {
    this.#wallAheadMs += byMs
  }

  /** Time goes by in which nothing is served, as while a long computation runs. */
  holdUp(forMs: number): void {
    this.#now += forMs
  }

  /** Moves time on, stopping at every timer that comes due, and lets all work settle that each of them starts. */
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

/** Resolves when nothing is left to do at this instant: microtasks, and what was yielded to the event loop. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 4; round += 1) await new Promise((resolve) => setImmediate(resolve))
}

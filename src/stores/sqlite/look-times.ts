/**
 * When a process with watches looks for commits of other processes: soon after a notice, though not more
 * often than every few milliseconds, and from time to time without one.
 */
export class LookTimes {
  readonly #pollMs: number
  #lookedAt = Number.NEGATIVE_INFINITY
  #isNoticed = true

  constructor(pollMs: number) {
    this.#pollMs = pollMs
  }

  /** Called before a look. */
  looks(now: number): void {
    this.#lookedAt = now
  }

  /** Called if there will be no notices: looks as often as with notices all the time. */
  unnoticed(): void {
    this.#isNoticed = false
  }

  /** Returns how long to wait for the next look, if there is no notice before. */
  idleMs(now: number): number {
    const ms = this.#isNoticed ? this.#pollMs : Math.min(this.#pollMs, PACE_MS)
    return Math.max(0, this.#lookedAt + ms - now)
  }

  /** Returns how long to wait for the next look after a notice. */
  noticedMs(now: number): number {
    return Math.max(0, this.#lookedAt + Math.min(this.#pollMs, PACE_MS) - now)
  }
}

/** The shortest time between two looks. */
const PACE_MS = 10

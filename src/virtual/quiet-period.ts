import type { Clock, Timer } from "../ports/clock.js"

/** What a node that leaves waits for: that all calls have ended, and then that none arrives for a moment. */
export class QuietPeriod {
  /** Calls that were made after this one are not waited for. */
  readonly lastCall: number
  readonly #quietMs: number
  readonly #clock: Clock
  readonly #passed: () => void
  #timer: Timer | undefined
  #isOver = false

  constructor(lastCall: number, quietMs: number, clock: Clock, passed: () => void) {
    this.lastCall = lastCall
    this.#quietMs = quietMs
    this.#clock = clock
    this.#passed = passed
  }

  /** Begins, as nothing is left to wait for; unless it has begun. */
  begin(): void {
    if (this.#isOver) return
    if (this.#quietMs === 0) return this.#passed()
    this.#timer ??= this.#clock.setTimer(this.#quietMs, this.#passed)
  }

  /** A call has arrived: the period begins anew. */
  disturb(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** Ends it early. */
  end(): void {
    this.#isOver = true
    this.#timer?.cancel()
    this.#passed()
  }
}

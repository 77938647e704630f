import type { Clock, Timer } from "../ports/clock.js"

/**
 * Lets a leaving node wait until all calls have ended, and then until none has arrived for some time, as
 * other nodes learn with a delay that its actors are no longer there.
 */
export class QuietPeriod {
  readonly #clock: Clock
  #wait:
    | { readonly isQuiet: () => boolean; readonly quietMs: number; readonly passed: () => void }
    | undefined
  #timer: Timer | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when all was quiet and `disturb` was not called for `quietMs`. */
  passed(quietMs: number, isQuiet: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#wait = { isQuiet, quietMs, passed: resolve }
      this.changed()
    })
  }

  /** Checks for quiet after a call has ended. */
  changed(): void {
    const wait = this.#wait
    if (wait === undefined || this.#timer !== undefined || !wait.isQuiet()) return
    if (wait.quietMs === 0) wait.passed()
    else this.#timer = this.#clock.setTimer(wait.quietMs, wait.passed)
  }

  /** Restarts the period, as a call has arrived. */
  disturb(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** Ends the wait early. */
  end(): void {
    this.disturb()
    this.#wait?.passed()
    this.#wait = undefined
  }
}

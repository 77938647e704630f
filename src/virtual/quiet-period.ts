import type { Clock, Timer } from "../ports/clock.js"

/**
 * What a node that leaves waits for: that all calls have ended, and then that none arrives for a moment, for
 * others hear late that nothing is here any more.
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

  /** Resolves when it has been quiet for so long. */
  passed(quietMs: number, isQuiet: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#wait = { isQuiet, quietMs, passed: resolve }
      this.changed()
    })
  }

  /** A call has ended. */
  changed(): void {
    const wait = this.#wait
    if (wait === undefined || this.#timer !== undefined || !wait.isQuiet()) return
    if (wait.quietMs === 0) wait.passed()
    else this.#timer = this.#clock.setTimer(wait.quietMs, wait.passed)
  }

  /** A call has arrived: the period begins anew. */
  disturb(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** Ends it early. */
  end(): void {
    this.disturb()
    this.#wait?.passed()
    this.#wait = undefined
  }
}

import type { Clock, Timer } from "../ports/clock.js"

/** What a node that leaves waits for before it goes: that all is answered, and then that nothing comes for a moment. */
export class Settling {
  /** What was called later is not waited for. */
  readonly lastCall: number
  readonly #quietMs: number
  readonly #clock: Clock
  readonly #settled: () => void
  #timer: Timer | undefined
  #isOver = false

  constructor(lastCall: number, quietMs: number, clock: Clock, settled: () => void) {
    this.lastCall = lastCall
    this.#quietMs = quietMs
    this.#clock = clock
    this.#settled = settled
  }

  /** Nothing is left to wait for, for now. */
  isQuiet(): void {
    if (this.#isOver) return
    if (this.#quietMs === 0) return this.#settled()
    this.#timer ??= this.#clock.setTimer(this.#quietMs, this.#settled)
  }

  /** Somebody has called. */
  disturb(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** It is waited for no longer. */
  end(): void {
    this.#isOver = true
    this.#timer?.cancel()
    this.#settled()
  }
}

import type { Clock, MonotonicMs, Timer, WallMs } from "../../src/ports/clock.js"
import type { Life } from "../../src/sim/index.js"

/**
 * The clock of a life, which remembers when in true time it was last read, and whether somebody has set the
 * wall clock back. A process may be paused right after a reading: what it decides by that reading is decided
 * in the moment of the reading, whenever it shows.
 */
export class TappedClock implements Clock {
  readonly #life: Life
  #readAtMs = 0
  #wall: { readonly ms: WallMs; readonly atMs: number } | undefined
  #wasSetBack = false

  constructor(life: Life) {
    this.#life = life
  }

  get readAtMs(): number {
    return this.#readAtMs
  }

  /** Or runs far slower than any clock that keeps the bound. */
  get wasSetBack(): boolean {
    return this.#wasSetBack
  }

  wallMs(): WallMs {
    const ms = this.#life.ports.clock.wallMs()
    const atMs = this.#life.trueMs()
    const { ms: beforeMs, atMs: beforeAtMs } = this.#wall ?? { ms, atMs }
    if (ms - beforeMs < (atMs - beforeAtMs) * 0.94 - 5) this.#wasSetBack = true
    this.#wall = { ms, atMs }
    return ms
  }

  monotonicMs(): MonotonicMs {
    const now = this.#life.ports.clock.monotonicMs()
    this.#readAtMs = this.#life.trueMs()
    return now
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    return this.#life.ports.clock.setTimer(delayMs, fire)
  }
}

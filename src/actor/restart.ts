import type { Clock, Timer } from "../ports/clock.js"
import type { Letter } from "./letter.js"
import type { Supervisor } from "./supervision.js"

/** A restart that has begun and waits, for its delay and for the children to end. */
export class Restart {
  /** The rule that asked for it, and whose initial behavior is started. */
  readonly supervisor: Supervisor
  /** What the next behavior is to hear, not the one that failed. */
  readonly held: Letter[] = []
  #isDue = false
  #timer: Timer | undefined

  constructor(supervisor: Supervisor) {
    this.supervisor = supervisor
  }

  /** Whether the delay is over. */
  get isDue(): boolean {
    return this.#isDue
  }

  /** Begins the delay, and calls `over` after it where there is one. */
  wait(delayMs: number, clock: Clock, over: () => void): void {
    if (delayMs === 0) {
      this.#isDue = true
      return
    }
    this.#timer = clock.setTimer(delayMs, () => {
      this.#isDue = true
      over()
    })
  }

  cancel(): void {
    this.#timer?.cancel()
  }
}

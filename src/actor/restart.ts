import type { Clock, Timer } from "../ports/clock.js"
import type { Supervisor } from "./supervision.js"
import type { SystemMessage } from "./system-message.js"

/** A restart in progress, which waits for its delay and for the children to stop. */
export class Restart {
  /** The rule that decided on the restart, and whose initial behavior is started. */
  readonly supervisor: Supervisor
  /** Signals for the next behavior, not for the one that failed. */
  readonly held: SystemMessage[] = []
  #isDue = false
  #timer: Timer | undefined

  constructor(supervisor: Supervisor) {
    this.supervisor = supervisor
  }

  /** Says whether the delay has ended. */
  get isDue(): boolean {
    return this.#isDue
  }

  /** Starts the delay, and calls `over` at its end, unless the delay is 0. */
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

import type { Scheduler } from "../ports/scheduler.js"

/**
 * How much all connections of a node read in one turn of the event loop. What comes in is decoded and
 * delivered as it is read, so a peer that sends as fast as it can would otherwise keep timers, actors and
 * other peers waiting. Whoever finds the turn used up goes on in the next one, the longest waiting first.
 */
export class ReadingTurn {
  readonly #scheduler: Scheduler
  #used = 0
  #waiting: Reader[] = []
  #isScheduled = false

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  /** A frame was dealt with. False if it was the last for this turn. */
  spend(bytes: number): boolean {
    this.#used += 1 + (bytes >> BYTES_AS_ONE_FRAME)
    return this.#used < MOST_FRAMES
  }

  /** Calls the reader in the next turn, or in one that comes soon after. */
  wait(reader: Reader): void {
    this.#waiting.push(reader)
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#scheduler.yield(this.#next)
  }

  readonly #next = (): void => {
    this.#isScheduled = false
    this.#used = 0
    const waiting = this.#waiting
    this.#waiting = []
    for (const [at, reader] of waiting.entries()) {
      if (this.#used >= MOST_FRAMES) {
        // Ahead of those that have just had their part.
        this.#waiting.unshift(...waiting.slice(at))
        break
      }
      try {
        reader.turn()
      } catch (error) {
        // Or those after it would never be called again.
        reader.broke(error)
      }
    }
    if (this.#waiting.length === 0 || this.#isScheduled) return
    this.#isScheduled = true
    this.#scheduler.yield(this.#next)
  }
}

export interface Reader {
  turn(): void
  /** Its turn failed, which is a defect. */
  broke(error: unknown): void
}

const MOST_FRAMES = 4_096
/** So many bits of a length: 256 bytes take as long as a small frame. */
const BYTES_AS_ONE_FRAME = 8

import type { Clock, MonotonicMs } from "../ports/clock.js"
import type { Scheduler } from "../ports/scheduler.js"

/**
 * How much all connections of a node read in one turn of the event loop. What comes in is decoded and
 * delivered as it is read, so a peer that sends as fast as it can would otherwise keep timers, actors and
 * other peers waiting. Whoever finds the turn used up goes on in the next one, the longest waiting first.
 *
 * Frames take time in proportion to their bytes, but for some that were made to take longer: ten messages
 * with keys that collide, 100 KB each, would be a turn of a second. So long ones are measured too.
 */
export class ReadingTurn {
  readonly #scheduler: Scheduler
  readonly #clock: Pick<Clock, "monotonicMs">
  #used = 0
  #waiting: Reader[] = []
  #isScheduled = false

  constructor(scheduler: Scheduler, clock: Pick<Clock, "monotonicMs">) {
    this.#scheduler = scheduler
    this.#clock = clock
  }

  /** A frame of that length is to be dealt with. Gives what `spend` is to be told. */
  begin(bytes: number): MonotonicMs | undefined {
    return bytes < LEAST_MEASURED_BYTES ? undefined : this.#clock.monotonicMs()
  }

  /** A frame was dealt with. False if it was the last for this turn. */
  spend(bytes: number, since: MonotonicMs | undefined): boolean {
    this.#used += 1 + (bytes >> BYTES_AS_ONE_FRAME)
    if (since !== undefined) this.#measure(since)
    return this.#used < MOST_FRAMES
  }

  #measure(since: MonotonicMs): void {
    const frames = Math.floor((this.#clock.monotonicMs() - since) * FRAMES_IN_A_MS)
    this.#used += Math.min(frames, MOST_FRAMES)
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
/** What is shorter has too few keys for them to take long. */
const LEAST_MEASURED_BYTES = 1_024
/** So a turn ends with the frame that makes it 16 ms, if not before. */
const FRAMES_IN_A_MS = 256

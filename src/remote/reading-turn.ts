import type { Clock, MonotonicMs } from "../ports/clock.js"
import type { Scheduler } from "../ports/scheduler.js"

/**
 * Limits how much all connections of a node read in one turn of the event loop. Frames are decoded and
 * delivered as they are read, so a peer that sends as fast as it can would otherwise starve timers, actors
 * and other peers. A connection that finds the turn used up continues in the next one; the connection that
 * has waited longest comes first.
 *
 * Frames take time in proportion to their bytes, except those made to take longer: ten messages of 100 KB
 * with colliding keys would make a turn of a second. So the time of long frames is measured too.
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

  /** Called before a frame of that length is handled. Returns the value to pass to `spend`. */
  begin(bytes: number): MonotonicMs | undefined {
    return bytes < LEAST_MEASURED_BYTES ? undefined : this.#clock.monotonicMs()
  }

  /** Called after a frame was handled. False if it was the last of this turn. */
  spend(bytes: number, since: MonotonicMs | undefined): boolean {
    this.#used += 1 + (bytes >> BYTES_AS_ONE_FRAME)
    if (since !== undefined) this.#measure(since)
    return this.#used < MOST_FRAMES
  }

  #measure(since: MonotonicMs): void {
    const frames = Math.floor((this.#clock.monotonicMs() - since) * FRAMES_IN_A_MS)
    this.#used += Math.min(frames, MOST_FRAMES)
  }

  /** Calls the reader in the next turn, or in a later one if that is used up. */
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
        // Before those that have just read.
        this.#waiting.unshift(...waiting.slice(at))
        break
      }
      try {
        reader.turn()
      } catch (error) {
        // Otherwise the readers after it would never be called again.
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
  /** Closes the connection because reading failed, which is a defect of this node. */
  broke(error: unknown): void
}

const MOST_FRAMES = 4_096
/** A shift: 256 bytes count as one small frame. */
const BYTES_AS_ONE_FRAME = 8
/** Shorter frames have too few keys to take long. */
const LEAST_MEASURED_BYTES = 1_024
/** A turn thus ends after 16 ms of long frames at the latest. */
const FRAMES_IN_A_MS = 256

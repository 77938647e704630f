import type { Clock } from "../ports/clock.js"
import type { Scheduler } from "../ports/scheduler.js"

/** Something that has work to do. */
export interface Runnable {
  /** Does at most `quota` pieces of it and says how many; if there is more, it has scheduled itself again. */
  run(quota: number): number
}

/**
 * Gives every cell its turn.
 *
 * Cells with work run in the order in which they got it, a bounded batch each, in one microtask: a message costs no trip
 * through the event loop. But microtasks starve timers and sockets, so after so many messages, or so much time, the rest
 * waits until the event loop has gone round. The count goes on from one microtask to the next, because a chain of async
 * handlers is many microtasks and still never lets the event loop through.
 */
export class Dispatcher {
  readonly #scheduler: Scheduler
  readonly #clock: Clock
  #ready: Runnable[] = []
  #pumping = false
  #sinceYield = 0
  #sinceLook = 0
  #yieldedAt: number

  constructor(scheduler: Scheduler, clock: Clock) {
    this.#scheduler = scheduler
    this.#clock = clock
    this.#yieldedAt = clock.monotonicMs()
  }

  schedule(runnable: Runnable): void {
    this.#ready.push(runnable)
    if (!this.#pumping) {
      this.#pumping = true
      if (this.#isOverdue()) this.#scheduler.yield(this.#pumpFresh)
      else this.#scheduler.microtask(this.#pump)
    }
  }

  readonly #pumpFresh = (): void => {
    this.#sinceYield = 0
    this.#yieldedAt = this.#clock.monotonicMs()
    this.#pump()
  }

  readonly #pump = (): void => {
    const ready = this.#ready
    for (let next = 0; next < ready.length; next += 1) {
      const done = (ready[next] as Runnable).run(BATCH)
      this.#sinceYield += done
      this.#sinceLook += done
      if (this.#isOverdue()) {
        ready.splice(0, next + 1)
        if (ready.length === 0) this.#pumping = false
        else this.#scheduler.yield(this.#pumpFresh)
        return
      }
    }
    ready.length = 0
    this.#pumping = false
  }

  #isOverdue(): boolean {
    if (this.#sinceYield >= MOST_MESSAGES) return true
    if (this.#sinceLook < LOOK_EVERY) return false
    this.#sinceLook = 0
    if (this.#clock.monotonicMs() - this.#yieldedAt < LONGEST_MS) return false
    this.#sinceYield = MOST_MESSAGES
    return true
  }
}

/** Messages that one cell handles in a row. */
const BATCH = 64
/** Messages that all cells handle before the event loop goes round. */
const MOST_MESSAGES = 2_048
/** How often the clock is looked at, in messages. */
const LOOK_EVERY = 64
/** After this long the event loop goes round, however few the messages were. */
const LONGEST_MS = 5

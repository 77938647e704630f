import type { Clock } from "../ports/clock.js"
import type { Scheduler } from "../ports/scheduler.js"

/** An object that has work to do. */
export interface Runnable {
  /**
   * Does at most `quota` units of work and returns how many; if there is more, it has scheduled itself again.
   */
  run(quota: number): number
  /** Called after `run` threw, which is a defect. The object is not run again. */
  broke(error: unknown): void
}

/**
 * Runs the cells that have work.
 *
 * Cells run in the order in which they got work, a bounded batch each, in one microtask: a message does not
 * cost a cycle of the event loop. Microtasks starve timers and sockets, however, so after a number of
 * messages, or some time, the rest waits for the next cycle. The count continues across microtasks, because a
 * chain of async handlers takes many microtasks and never lets the event loop proceed.
 */
export class Dispatcher {
  readonly #scheduler: Scheduler
  readonly #clock: Clock
  /** The next to run. It is kept outside of the array because mostly there is just one. */
  #first: Runnable | undefined
  readonly #ready: Runnable[] = []
  #pumping = false
  #sinceYield = 0
  #sinceCheck = 0
  #yieldedAt: number
  /** When the clock was last read in the current microtask. */
  #checkedAt: number | undefined
  #batch = LARGEST_BATCH

  constructor(scheduler: Scheduler, clock: Clock) {
    this.#scheduler = scheduler
    this.#clock = clock
    this.#yieldedAt = clock.monotonicMs()
  }

  schedule(runnable: Runnable): void {
    if (this.#pumping) {
      this.#ready.push(runnable)
      return
    }
    this.#first = runnable
    this.#pumping = true
    if (this.#sinceYield >= MOST_MESSAGES) this.#scheduler.yield(this.#pumpFresh)
    else this.#scheduler.microtask(this.#pump)
  }

  readonly #pumpFresh = (): void => {
    this.#sinceYield = 0
    this.#sinceCheck = 0
    this.#yieldedAt = this.#clock.monotonicMs()
    this.#checkedAt = this.#yieldedAt
    this.#serve()
  }

  readonly #pump = (): void => {
    this.#checkedAt = undefined
    this.#serve()
  }

  #serve(): void {
    const ready = this.#ready
    let runnable = this.#first
    this.#first = undefined
    let next = 0
    while (runnable !== undefined) {
      const done = this.#run(runnable)
      this.#sinceYield += done
      this.#sinceCheck += done
      if (this.#sinceCheck >= this.#batch) this.#checkClock()
      runnable = next < ready.length ? ready[next] : undefined
      next += 1
      if (this.#sinceYield < MOST_MESSAGES || runnable === undefined) continue
      this.#first = runnable
      ready.splice(0, next)
      this.#scheduler.yield(this.#pumpFresh)
      return
    }
    if (ready.length > 0) ready.length = 0
    this.#pumping = false
  }

  /** Runs one object; an error of it does not affect the others. */
  #run(runnable: Runnable): number {
    try {
      return runnable.run(this.#batch)
    } catch (error) {
      this.#reportCrash(runnable, error)
      return 1
    }
  }

  /** If `broke` throws too, the error is thrown where it does not affect the others. */
  #reportCrash(runnable: Runnable, error: unknown): void {
    try {
      runnable.broke(error)
    } catch (worse) {
      this.#scheduler.yield(() => {
        throw worse
      })
    }
  }

  /**
   * Reads the clock, and adapts the batch: the longer messages take, the fewer are handled between two reads.
   */
  #checkClock(): void {
    const now = this.#clock.monotonicMs()
    if (this.#checkedAt !== undefined) {
      const slow = now - this.#checkedAt > 1
      this.#batch = slow ? Math.max(1, this.#batch >> 2) : Math.min(LARGEST_BATCH, this.#batch * 2)
    }
    this.#checkedAt = now
    this.#sinceCheck = 0
    if (now - this.#yieldedAt >= LONGEST_MS) this.#sinceYield = MOST_MESSAGES
  }
}

/** The most messages that one cell handles in a row, and that are handled between two reads of the clock. */
const LARGEST_BATCH = 32
/** The messages that all cells together handle in one cycle of the event loop. */
const MOST_MESSAGES = 2_048
/** The longest time before the event loop proceeds, however few the messages were. */
const LONGEST_MS = 5

import type { Clock } from "../ports/clock.js"
import type { Scheduler } from "../ports/scheduler.js"

/** Something that has work to do. */
export interface Runnable {
  /** Does at most `quota` pieces of it and says how many; if there is more, it has scheduled itself again. */
  run(quota: number): number
  /** It threw, which it must not; nothing more is asked of it. */
  broke(error: unknown): void
}

/**
 * Gives every cell its turn.
 *
 * Cells with work run in the order in which they got it, a bounded batch each, in one microtask: a message
 * costs no trip through the event loop. But microtasks starve timers and sockets, so after so many messages,
 * or so much time, the rest waits until the event loop has gone round. The count goes on from one microtask
 * to the next, because a chain of async handlers is many microtasks and still never lets the event loop
 * through.
 */
export class Dispatcher {
  readonly #scheduler: Scheduler
  readonly #clock: Clock
  /** Whose turn is next. It has a place of its own because mostly there is just one. */
  #first: Runnable | undefined
  readonly #ready: Runnable[] = []
  #pumping = false
  #sinceYield = 0
  #sinceLook = 0
  #yieldedAt: number
  /** When it last looked at the clock in the microtask that runs. */
  #lookedAt: number | undefined
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
    this.#sinceLook = 0
    this.#yieldedAt = this.#clock.monotonicMs()
    this.#lookedAt = this.#yieldedAt
    this.#serve()
  }

  readonly #pump = (): void => {
    this.#lookedAt = undefined
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
      this.#sinceLook += done
      if (this.#sinceLook >= this.#batch) this.#look()
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

  /** One that breaks takes nobody with it. */
  #run(runnable: Runnable): number {
    try {
      return runnable.run(this.#batch)
    } catch (error) {
      this.#broke(runnable, error)
      return 1
    }
  }

  /** Whoever cannot even say that it broke is told of where nobody else is harmed. */
  #broke(runnable: Runnable, error: unknown): void {
    try {
      runnable.broke(error)
    } catch (worse) {
      this.#scheduler.yield(() => {
        throw worse
      })
    }
  }

  /** Where messages take long, fewer of them go between two looks at the clock. */
  #look(): void {
    const now = this.#clock.monotonicMs()
    if (this.#lookedAt !== undefined) {
      const slow = now - this.#lookedAt > 1
      this.#batch = slow ? Math.max(1, this.#batch >> 2) : Math.min(LARGEST_BATCH, this.#batch * 2)
    }
    this.#lookedAt = now
    this.#sinceLook = 0
    if (now - this.#yieldedAt >= LONGEST_MS) this.#sinceYield = MOST_MESSAGES
  }
}

/** Messages that one cell handles in a row, and that are handled between two looks at the clock. */
const LARGEST_BATCH = 32
/** Messages that all cells handle before the event loop goes round. */
const MOST_MESSAGES = 2_048
/** After this long the event loop goes round, however few the messages were. */
const LONGEST_MS = 5

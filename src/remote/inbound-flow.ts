import type { Dispatcher, Runnable } from "../actor/dispatcher.js"
import type { MonotonicMs } from "../ports/clock.js"
import { InboundBudget, type InboundTerms } from "./inbound-budget.js"
import type { Reader, ReadingTurn } from "./reading-turn.js"

/**
 * Pauses and resumes reading on one connection: the driver of its budget, and of its share of each turn.
 */
export class InboundFlow implements Reader, Runnable {
  readonly budget: InboundBudget
  /** Counts what is read in each turn of the event loop: told before a frame is handled. */
  readonly readingTurn: ReadingTurn
  readonly #reading: ReadControl
  readonly #dependencies: InboundDependencies

  constructor(reading: ReadControl, dependencies: InboundDependencies) {
    this.budget = new InboundBudget(dependencies.terms)
    this.readingTurn = dependencies.turn
    this.#reading = reading
    this.#dependencies = dependencies
  }

  /** Called after a frame was handled, with what `readingTurn.begin` returned before. */
  read(bytes: number, since: MonotonicMs | undefined): void {
    const hasMore = this.readingTurn.spend(bytes, since)
    if (hasMore && !this.budget.isHeld) return
    this.#reading.pauseReading()
    this.readingTurn.wait(this)
  }

  /** Called in the next turn of the event loop. Ready actors have their turns before `run`. */
  turn(): void {
    if (this.budget.isHeld) this.#dependencies.dispatcher.schedule(this)
    else this.#reading.resumeReading()
  }

  run(): number {
    if (this.budget.round()) this.#reading.resumeReading()
    else this.readingTurn.wait(this)
    return 1
  }

  broke(error: unknown): void {
    this.#reading.broke(error)
  }
}

/** Controls the reading of a connection. */
export interface ReadControl {
  /** Pauses reading after the current frame. */
  pauseReading(): void
  resumeReading(): void
  /** Closes the connection because reading failed, which is a defect of this node. */
  broke(error: unknown): void
}

export interface InboundDependencies {
  readonly terms: InboundTerms
  readonly turn: ReadingTurn
  readonly dispatcher: Dispatcher
}

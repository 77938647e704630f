import type { Dispatcher, Runnable } from "../actor/dispatcher.js"
import type { MonotonicMs } from "../ports/clock.js"
import { InboundBudget, type InboundTerms } from "./inbound-budget.js"
import type { Reader, ReadingTurn } from "./reading-turn.js"

/**
 * Holds the reading of one connection, and lets it go on: the driver of its budget, and of its part in each
 * turn.
 */
export class InboundFlow implements Reader, Runnable {
  readonly budget: InboundBudget
  readonly #valve: Valve
  readonly #tools: InboundTools

  constructor(valve: Valve, tools: InboundTools) {
    this.budget = new InboundBudget(tools.terms)
    this.#valve = valve
    this.#tools = tools
  }

  /** A frame is to be dealt with. Gives what `read` is to be told. */
  begin(bytes: number): MonotonicMs | undefined {
    return this.#tools.turn.begin(bytes)
  }

  /** A frame was dealt with. */
  read(bytes: number, since: MonotonicMs | undefined): void {
    const hasMore = this.#tools.turn.spend(bytes, since)
    if (hasMore && !this.budget.isHeld) return
    this.#valve.hold()
    this.#tools.turn.wait(this)
  }

  /** The event loop has gone round. Those that are ready have their turns before `run`. */
  turn(): void {
    if (this.budget.isHeld) this.#tools.dispatcher.schedule(this)
    else this.#valve.goOn()
  }

  run(): number {
    if (this.budget.round()) this.#valve.goOn()
    else this.#tools.turn.wait(this)
    return 1
  }

  broke(error: unknown): void {
    this.#valve.broke(error)
  }
}

/** What reads from a connection. */
export interface Valve {
  /** Hands out nothing more after the frame that is being dealt with. */
  hold(): void
  goOn(): void
  /** Reading on failed, which is a defect. */
  broke(error: unknown): void
}

export interface InboundTools {
  readonly terms: InboundTerms
  readonly turn: ReadingTurn
  readonly dispatcher: Dispatcher
}

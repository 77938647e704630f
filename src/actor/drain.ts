import type { Cell } from "./cell.js"
import { TimerTick } from "./timers.js"

/** Stops an actor once it has handled the messages in its mailbox. It accepts no others. */
export function drain(cell: Cell): void {
  cell.close()
  cell.acceptTick(new LastTick(cell))
}

/** The end of a mailbox. */
class LastTick extends TimerTick {
  readonly #cell: Cell

  constructor(cell: Cell) {
    super(new Map(), undefined, undefined, undefined)
    this.#cell = cell
  }

  override arrive(): boolean {
    this.#cell.stop()
    return false
  }
}

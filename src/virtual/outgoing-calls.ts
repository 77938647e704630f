/**
 * The calls of one activation that have not ended; and how many of them have not left its node.
 *
 * Once an activation has ended, its calls may not leave any more, nor be sent again if they come back unrun. So a planned end waits for them:
 * for all of them while nobody wants the next activation, and otherwise for those that have not left at all. To wait for all of them in any
 * case would be a deadlock where one of them waits, at the actor that it was made to, for a call to this very actor.
 */
export class OutgoingCalls {
  #open = 0
  #unsent = 0
  #changed: (() => void) | undefined

  made(): void {
    this.#open += 1
    this.#unsent += 1
  }

  left(): void {
    this.#unsent -= 1
    this.#changed?.()
  }

  /** One that had left was not run, and is to be sent again. */
  returned(): void {
    this.#unsent += 1
  }

  ended(): void {
    this.#open -= 1
    this.#changed?.()
  }

  /** Whether the activation may end without losing a call; `isWanted`: others wait for the next one. */
  mayEnd(isWanted: boolean): boolean {
    return this.#open === 0 || (isWanted && this.#unsent === 0)
  }

  /** Looks again, now and after every change, until `isOver` says yes. */
  watch(isOver: () => boolean): void {
    this.#changed = () => {
      if (isOver()) this.#changed = undefined
    }
    this.#changed()
  }

  /** Something else has changed. */
  look(): void {
    this.#changed?.()
  }
}

import type { Clock } from "../ports/clock.js"

/**
 * The calls of one activation that have not ended, and how many of them have not left its node.
 *
 * Once an activation has ended, its calls may no longer leave, nor be sent again if they come back unrun. So
 * a planned end waits for them: for all of them while nobody wants the next activation, and otherwise for
 * those that have not left at all. To wait for all of them in any case would be a deadlock where one of them
 * waits, at the actor that it was made to, for a call to this very actor.
 */
export class OutgoingCalls {
  /** The call chain of calls that nobody waits for but the actor itself. */
  readonly ownChain: readonly string[]
  #open = 0
  #unsent = 0
  #changed: (() => void) | undefined

  /** `key` is the actor's. */
  constructor(key: string) {
    this.ownChain = [key]
  }

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

  /** Something about the end has changed. */
  look(): void {
    this.#changed?.()
  }

  /**
   * Resolves once the activation may end; undefined if it may now. Calls that cannot be sent for as long as a
   * call may take are given up; after a second already where the node is leaving or others wait for the next
   * activation.
   */
  settled(end: PlannedEnd, clock: Clock, requestTimeoutMs: number): Promise<void> | undefined {
    if (this.#mayEnd(end.isWanted)) return undefined
    return new Promise((resolve) => {
      let [isUrgent, isLate] = [false, false]
      const urgent = clock.setTimer(Math.min(URGENT_MS, requestTimeoutMs), () => {
        isUrgent = true
        this.look()
      })
      const late = clock.setTimer(requestTimeoutMs, () => {
        isLate = true
        this.look()
      })
      this.#changed = () => {
        const isPressed = isUrgent && (end.isWanted || end.isLeaving)
        if (!isLate && !isPressed && !end.isFenced && !this.#mayEnd(end.isWanted)) return
        this.#changed = undefined
        urgent.cancel()
        late.cancel()
        resolve()
      }
    })
  }

  /** Whether the activation may end without losing a call. */
  #mayEnd(isWanted: boolean): boolean {
    return this.#open === 0 || (isWanted && this.#unsent === 0)
  }
}

/**
 * How long others wait for calls of an activation that ends. Those that can be sent at all have been by then.
 */
const URGENT_MS = 1_000

/** An activation that ends, as far as its calls are concerned. */
export interface PlannedEnd {
  /** Others wait for the next activation. */
  readonly isWanted: boolean
  /** The node is leaving. */
  readonly isLeaving: boolean
  readonly isFenced: boolean
}

import type { Clock } from "../ports/clock.js"

/**
 * Counts the calls of one activation that have not ended, and those of them that have not left its node.
 *
 * Once an activation has ended, its calls may no longer leave, nor be resent if they come back without having
 * run. A planned end therefore waits for its calls: for all of them while no caller waits for the next
 * activation, and otherwise only for those that have not left. Waiting for all of them in any case would be a
 * deadlock if one of them waits, at the actor that it calls, for a call to this actor.
 */
export class OutgoingCalls {
  /** The call chain of calls that are not made for a caller of the actor. */
  readonly ownChain: readonly string[]
  #open = 0
  #unsent = 0
  #changed: (() => void) | undefined

  /** `key`: the key of the actor. */
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

  /** Counts a call as not sent that had left, was not run, and will be resent. */
  returned(): void {
    this.#unsent += 1
  }

  ended(): void {
    this.#open -= 1
    this.#changed?.()
  }

  /** Checks again whether the activation may end, after a change of its `PlannedEnd`. */
  recheck(): void {
    this.#changed?.()
  }

  /**
   * Resolves once the activation may end; returns undefined if it may end now. The wait is given up after
   * `requestTimeoutMs`, or after a second if the node is leaving or callers wait for the next activation.
   */
  settled(end: PlannedEnd, clock: Clock, requestTimeoutMs: number): Promise<void> | undefined {
    if (this.#mayEnd(end.isWanted)) return undefined
    return new Promise((resolve) => {
      let [isUrgent, isLate] = [false, false]
      const urgent = clock.setTimer(Math.min(URGENT_MS, requestTimeoutMs), () => {
        isUrgent = true
        this.recheck()
      })
      const late = clock.setTimer(requestTimeoutMs, () => {
        isLate = true
        this.recheck()
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

  #mayEnd(isWanted: boolean): boolean {
    return this.#open === 0 || (isWanted && this.#unsent === 0)
  }
}

/** How long callers wait for the calls of an ending activation; those that can be sent have left by then. */
const URGENT_MS = 1_000

/** An ending activation, as far as its calls are concerned. */
export interface PlannedEnd {
  /** Whether callers wait for the next activation. */
  readonly isWanted: boolean
  /** Whether the node is leaving. */
  readonly isLeaving: boolean
  readonly isFenced: boolean
}

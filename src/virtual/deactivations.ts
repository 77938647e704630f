import type { Scheduler } from "../ports/scheduler.js"
import type { Activation } from "./activation.js"
import type { DeactivationReason } from "./actor.js"

/**
 * Ends many activations without blocking the event loop or flooding the store. The number of activations that
 * are examined and ended in one turn of the event loop is limited, as is the number of ends in flight.
 *
 * `isDue` is evaluated immediately before an activation would be ended, so an activation that has been used
 * in the meantime is kept.
 */
export class Deactivations {
  readonly #work: DeactivationWork
  readonly #done: Promise<void>
  #resolve: () => void = () => {}
  #inFlight = 0
  #examined = 0
  #isScheduled = false
  #isStopped = false

  constructor(work: DeactivationWork) {
    this.#work = work
    this.#done = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.#slice()
  }

  /** Resolves when all activations that were due are gone, or after `stop`. */
  get done(): Promise<void> {
    return this.#done
  }

  /** Starts no further ends. */
  stop(): void {
    this.#isStopped = true
    this.#resolve()
  }

  #continue(): void {
    if (this.#isScheduled || this.#isStopped) return
    this.#isScheduled = true
    this.#work.scheduler.yield(this.#slice)
  }

  readonly #slice = (): void => {
    this.#isScheduled = false
    const { candidates, maxCandidates, reason, maxInFlight, isDue } = this.#work
    const { maxExaminedPerTurn = MAX_EXAMINED_PER_TURN } = this.#work
    let started = 0
    for (let examined = 0; examined < maxExaminedPerTurn && started < MAX_STARTED_PER_TURN; examined += 1) {
      if (this.#isStopped || this.#inFlight >= maxInFlight) return
      const next = this.#examined < maxCandidates ? candidates.next() : undefined
      if (next === undefined || next.done === true) return this.#stopIfIdle()
      this.#examined += 1
      if (!isDue(next.value)) continue
      started += 1
      this.#inFlight += 1
      void next.value.deactivate(reason).then(this.#ended)
    }
    this.#continue()
  }

  readonly #ended = (): void => {
    this.#inFlight -= 1
    this.#continue()
  }

  /** Stops when there are no more candidates and no end is in flight. */
  #stopIfIdle(): void {
    if (this.#inFlight === 0) this.stop()
  }
}

const MAX_EXAMINED_PER_TURN = 10_000
const MAX_STARTED_PER_TURN = 64

export interface DeactivationWork {
  readonly scheduler: Scheduler
  /** May grow and shrink during the iteration. */
  readonly candidates: Iterator<Activation>
  /** The number of candidates to examine. */
  readonly maxCandidates: number
  /** The number of candidates to examine in one turn of the event loop. Default 10,000. */
  readonly maxExaminedPerTurn?: number
  readonly maxInFlight: number
  readonly reason: DeactivationReason
  /** Whether the activation should end now. */
  isDue(activation: Activation): boolean
}

import type { Scheduler } from "../ports/scheduler.js"
import type { Activation } from "./activation.js"
import type { DeactivationReason } from "./actor.js"

/**
 * Ends many activations without holding up the event loop or flooding the store: in each turn of the event
 * loop so many are looked at and so many ends are begun, and so many are under way at a time.
 *
 * Whether one is to end is asked at the very moment when that would be begun, so one that was used since is
 * kept.
 */
export class Deactivations {
  readonly #work: DeactivationWork
  readonly #done: Promise<void>
  #isDone: () => void = () => {}
  #underWay = 0
  #lookedAt = 0
  #isScheduled = false
  #isOver = false

  constructor(work: DeactivationWork) {
    this.#work = work
    this.#done = new Promise((resolve) => {
      this.#isDone = resolve
    })
    this.#slice()
  }

  /** Resolves when all that were to end are gone, or it was stopped. */
  get done(): Promise<void> {
    return this.#done
  }

  /** Begins no more. */
  stop(): void {
    this.#isOver = true
    this.#isDone()
  }

  #goOn(): void {
    if (this.#isScheduled || this.#isOver) return
    this.#isScheduled = true
    this.#work.scheduler.yield(this.#slice)
  }

  readonly #slice = (): void => {
    this.#isScheduled = false
    const { candidates, most, reason, mostUnderWay, isDue } = this.#work
    let begun = 0
    for (let looked = 0; looked < LOOKED_AT_IN_A_TURN && begun < BEGUN_IN_A_TURN; looked += 1) {
      if (this.#isOver || this.#underWay >= mostUnderWay) return
      const next = this.#lookedAt < most ? candidates.next() : undefined
      if (next === undefined || next.done === true) return this.#end()
      this.#lookedAt += 1
      if (!isDue(next.value)) continue
      begun += 1
      this.#underWay += 1
      void next.value.deactivate(reason).then(this.#ended)
    }
    this.#goOn()
  }

  readonly #ended = (): void => {
    this.#underWay -= 1
    this.#goOn()
  }

  #end(): void {
    if (this.#underWay === 0) this.stop()
  }
}

const LOOKED_AT_IN_A_TURN = 10_000
const BEGUN_IN_A_TURN = 64

export interface DeactivationWork {
  readonly scheduler: Scheduler
  /** May go on growing, and shrinking, while it is gone through. */
  readonly candidates: Iterator<Activation>
  /** How many of them are looked at. */
  readonly most: number
  readonly mostUnderWay: number
  readonly reason: DeactivationReason
  isDue(activation: Activation): boolean
}

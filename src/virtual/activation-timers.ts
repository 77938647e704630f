import type { Clock, Timer } from "../ports/clock.js"
import type { Activation, OwnInvocation } from "./activation.js"
import { OWN_TASK } from "./activation.js"
import type { ActorTimer, ActorTimers } from "./actor.js"

/** The timers of one activation: what they run waits in its mailbox like a message, and they end with it. */
export class ActivationTimers implements ActorTimers {
  readonly #activation: Activation
  readonly #clock: Clock
  readonly #running = new Set<Timer>()
  #isOver = false

  constructor(activation: Activation, clock: Clock) {
    this.#activation = activation
    this.#clock = clock
  }

  after(delayMs: number, task: () => void | Promise<void>): ActorTimer {
    return this.#begin(delayMs, task, false)
  }

  every(intervalMs: number, task: () => void | Promise<void>): ActorTimer {
    return this.#begin(intervalMs, task, true)
  }

  end(): void {
    this.#isOver = true
    for (const timer of this.#running) timer.cancel()
    this.#running.clear()
  }

  #begin(delayMs: number, task: () => void | Promise<void>, repeats: boolean): ActorTimer {
    let isCancelled = false
    let timer: Timer | undefined
    const set = () => {
      if (this.#isOver || isCancelled) return
      const own = this.#clock.setTimer(delayMs, () => {
        this.#running.delete(own)
        if (!isCancelled)
          this.#activation.enqueueOwn(this.#invocation(task, repeats ? set : () => {}, () => isCancelled))
      })
      timer = own
      this.#running.add(own)
    }
    set()
    return {
      cancel: () => {
        isCancelled = true
        timer?.cancel()
        if (timer !== undefined) this.#running.delete(timer)
      },
    }
  }

  #invocation(task: () => unknown, done: () => void, isCancelled: () => boolean): OwnInvocation {
    const { id, key } = this.#activation
    return {
      [OWN_TASK]: task,
      id,
      key,
      method: "",
      args: [],
      isOneWay: true,
      keepsNothingAlive: true,
      chain: [],
      trace: undefined,
      get isOver() {
        return isCancelled()
      },
      begun: () => {},
      succeed: done,
      fail: (error) => {
        this.#activation.timerFailed(error)
        done()
      },
    }
  }
}

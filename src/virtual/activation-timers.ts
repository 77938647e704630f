import type { Clock, Timer } from "../ports/clock.js"
import type { ActorTimer, ActorTimers } from "./actor.js"
import { OwnTask, type TaskOwner } from "./own-task.js"

/** The timers of one activation. Their tasks are queued like messages, and they end with the activation. */
export class ActivationTimers implements ActorTimers {
  readonly #owner: TaskOwner
  readonly #clock: Clock
  readonly #running = new Set<Timer>()

  constructor(owner: TaskOwner, clock: Clock) {
    this.#owner = owner
    this.#clock = clock
  }

  after(delayMs: number, task: () => void | Promise<void>): ActorTimer {
    return this.#begin(delayMs, task, false)
  }

  every(intervalMs: number, task: () => void | Promise<void>): ActorTimer {
    return this.#begin(intervalMs, task, true)
  }

  get isEmpty(): boolean {
    return this.#running.size === 0
  }

  end(): void {
    for (const timer of this.#running) timer.cancel()
    this.#running.clear()
  }

  #begin(delayMs: number, run: () => unknown, repeats: boolean): ActorTimer {
    let timer: Timer | undefined
    const set = () => {
      if (this.#owner.isInvalid || task.isOver) return
      const own = this.#clock.setTimer(delayMs, () => {
        this.#running.delete(own)
        if (!task.isOver) this.#owner.enqueueOwn(task)
      })
      timer = own
      this.#running.add(own)
    }
    const task = new OwnTask(this.#owner, "timer", run, repeats ? set : undefined)
    set()
    return {
      cancel: () => {
        task.isOver = true
        timer?.cancel()
        if (timer !== undefined) this.#running.delete(timer)
      },
    }
  }
}

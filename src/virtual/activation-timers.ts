import type { ActorId } from "../address/actor-id.js"
import type { Clock, Timer } from "../ports/clock.js"
import type { ActorTimer, ActorTimers } from "./actor.js"
import type { Invocation } from "./invocation.js"

/** The timers of one activation. Their tasks are queued like messages, and they end with the activation. */
export class ActivationTimers implements ActorTimers {
  readonly #owner: TimerOwner
  readonly #clock: Clock
  readonly #running = new Set<Timer>()
  #hasEnded = false

  constructor(owner: TimerOwner, clock: Clock) {
    this.#owner = owner
    this.#clock = clock
  }

  after(delayMs: number, task: () => void | Promise<void>): ActorTimer {
    return this.#begin(delayMs, task, false)
  }

  every(intervalMs: number, task: () => void | Promise<void>): ActorTimer {
    return this.#begin(intervalMs, task, true)
  }

  end(): void {
    this.#hasEnded = true
    for (const timer of this.#running) timer.cancel()
    this.#running.clear()
  }

  #begin(delayMs: number, run: () => unknown, repeats: boolean): ActorTimer {
    let timer: Timer | undefined
    const set = () => {
      if (this.#hasEnded || task.isOver) return
      const own = this.#clock.setTimer(delayMs, () => {
        this.#running.delete(own)
        if (!task.isOver) this.#owner.enqueueOwn(task)
      })
      timer = own
      this.#running.add(own)
    }
    const task = new TimerTask(this.#owner, run, repeats ? set : () => {})
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

/** A task of a timer, queued as a message of the actor to itself. */
export class TimerTask implements Invocation {
  readonly id: ActorId
  readonly key: string
  readonly method = ""
  readonly args: readonly unknown[] = NONE
  readonly isOneWay = true
  readonly isBackground = true
  readonly chain: readonly string[] = NONE
  readonly trace = undefined
  /** Whether the timer was cancelled. */
  isOver = false
  readonly run: () => unknown
  readonly #owner: TimerOwner
  readonly #onEnd: () => void

  constructor(owner: TimerOwner, run: () => unknown, onEnd: () => void) {
    this.id = owner.id
    this.key = owner.key
    this.run = run
    this.#owner = owner
    this.#onEnd = onEnd
  }

  begun(): void {}

  succeed(): void {
    this.#onEnd()
  }

  fail(error: Error): void {
    this.#owner.timerFailed(error)
    this.#onEnd()
  }
}

const NONE: readonly never[] = []

/** The activation that timers belong to. */
export interface TimerOwner {
  readonly id: ActorId
  readonly key: string
  enqueueOwn(task: TimerTask): void
  timerFailed(error: Error): void
}

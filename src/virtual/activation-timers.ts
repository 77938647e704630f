import type { ActorId } from "../address/actor-id.js"
import type { Clock, Timer } from "../ports/clock.js"
import type { ActorTimer, ActorTimers } from "./actor.js"
import type { Invocation } from "./invocation.js"

/** The timers of one activation: what they run waits like a message, and they end with the activation. */
export class ActivationTimers implements ActorTimers {
  readonly #owner: TimerOwner
  readonly #clock: Clock
  readonly #running = new Set<Timer>()
  #isOver = false

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
    this.#isOver = true
    for (const timer of this.#running) timer.cancel()
    this.#running.clear()
  }

  #begin(delayMs: number, run: () => unknown, repeats: boolean): ActorTimer {
    let timer: Timer | undefined
    const set = () => {
      if (this.#isOver || task.isOver) return
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

/** What a timer runs: a message of the actor to itself. */
export class TimerTask implements Invocation {
  readonly id: ActorId
  readonly key: string
  readonly method = ""
  readonly args: readonly unknown[] = NOTHING
  readonly isOneWay = true
  readonly keepsNothingAlive = true
  readonly chain: readonly string[] = NOTHING
  readonly trace = undefined
  /** The timer was cancelled. */
  isOver = false
  readonly run: () => unknown
  readonly #owner: TimerOwner
  readonly #done: () => void

  constructor(owner: TimerOwner, run: () => unknown, done: () => void) {
    this.id = owner.id
    this.key = owner.key
    this.run = run
    this.#owner = owner
    this.#done = done
  }

  begun(): void {}

  succeed(): void {
    this.#done()
  }

  fail(error: Error): void {
    this.#owner.timerFailed(error)
    this.#done()
  }
}

const NOTHING: readonly never[] = []

/** The activation whose timers these are. */
export interface TimerOwner {
  readonly id: ActorId
  readonly key: string
  enqueueOwn(task: TimerTask): void
  timerFailed(error: Error): void
}

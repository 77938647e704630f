import type { Clock, Timer } from "../ports/clock.js"

/**
 * Messages that an actor sends itself later. They are its own: all end when it stops or restarts. A key has
 * one timer: starting it again, or cancelling it, also takes back a message that had fired and was still
 * waiting in the mailbox.
 */
export interface Timers<M> {
  startSingle(key: unknown, message: M, delayMs: number): void
  /**
   * Every `intervalMs`, the first after one interval. A tick that comes while the last one waits is left out.
   */
  startPeriodic(key: unknown, message: M, intervalMs: number): void
  cancel(key: unknown): void
  cancelAll(): void
  isActive(key: unknown): boolean
}

/** A timer's message on its way through the mailbox, where it can still be taken back. */
export class TimerTick {
  readonly #owner: Map<unknown, TimerTick>
  readonly #key: unknown
  readonly message: unknown
  readonly intervalMs: number | undefined
  timer: Timer | undefined
  waiting = false

  constructor(
    owner: Map<unknown, TimerTick>,
    key: unknown,
    message: unknown,
    intervalMs: number | undefined,
  ) {
    this.#owner = owner
    this.#key = key
    this.message = message
    this.intervalMs = intervalMs
  }

  /** Whether the message is still wanted, now that its turn has come. */
  arrive(): boolean {
    this.waiting = false
    if (this.#owner.get(this.#key) !== this) return false
    if (this.intervalMs === undefined) this.#owner.delete(this.#key)
    return true
  }
}

export class ActorTimers<M> implements Timers<M> {
  readonly #clock: Clock
  readonly #deliver: (tick: TimerTick) => void
  readonly #ticks = new Map<unknown, TimerTick>()
  #closed = false

  constructor(clock: Clock, deliver: (tick: TimerTick) => void) {
    this.#clock = clock
    this.#deliver = deliver
  }

  startSingle(key: unknown, message: M, delayMs: number): void {
    this.#start(key, new TimerTick(this.#ticks, key, message, undefined), delayMs)
  }

  startPeriodic(key: unknown, message: M, intervalMs: number): void {
    if (!(intervalMs > 0))
      throw new RangeError(`a periodic timer's intervalMs is more than 0, not ${intervalMs}`)
    this.#start(key, new TimerTick(this.#ticks, key, message, intervalMs), intervalMs)
  }

  cancel(key: unknown): void {
    this.#ticks.get(key)?.timer?.cancel()
    this.#ticks.delete(key)
  }

  cancelAll(): void {
    for (const key of [...this.#ticks.keys()]) this.cancel(key)
  }

  isActive(key: unknown): boolean {
    return this.#ticks.has(key)
  }

  /** Starts nothing any more. */
  close(): void {
    this.#closed = true
    this.cancelAll()
  }

  #start(key: unknown, tick: TimerTick, delayMs: number): void {
    if (!Number.isFinite(delayMs)) throw new RangeError(`a timer's delay is a finite number, not ${delayMs}`)
    this.cancel(key)
    if (this.#closed) return
    this.#ticks.set(key, tick)
    tick.timer = this.#clock.setTimer(delayMs, () => this.#fire(tick))
  }

  #fire(tick: TimerTick): void {
    if (tick.intervalMs !== undefined)
      tick.timer = this.#clock.setTimer(tick.intervalMs, () => this.#fire(tick))
    if (tick.waiting) return
    tick.waiting = true
    this.#deliver(tick)
  }
}

import type { Clock, Timer } from "../ports/clock.js"

/**
 * Messages that an actor sends to itself later. All timers end when the actor stops or restarts. Each key has
 * one timer: starting it again, or cancelling it, also discards a message that has fired and still waits in
 * the mailbox.
 */
export interface Timers<M> {
  /** Sends `message` once, after `delayMs`. */
  startSingle(key: unknown, message: M, delayMs: number): void
  /**
   * Sends `message` every `intervalMs`, for the first time after one interval. A tick that comes while the
   * previous one still waits is skipped.
   */
  startPeriodic(key: unknown, message: M, intervalMs: number): void
  /** Cancels the timer of a key. */
  cancel(key: unknown): void
  /** Cancels all timers. */
  cancelAll(): void
  /** Says whether the key has a timer: a periodic one, or a single one whose message was not handled yet. */
  isActive(key: unknown): boolean
}

/** The message of a timer in the mailbox, where it can still be discarded. */
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

  /** Called when the message is taken. Returns whether it should still be handled. */
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
      throw new RangeError(`intervalMs of a periodic timer must be above 0 (got ${intervalMs})`)
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

  /** Cancels all timers and starts no new ones. */
  close(): void {
    this.#closed = true
    this.cancelAll()
  }

  #start(key: unknown, tick: TimerTick, delayMs: number): void {
    if (!Number.isFinite(delayMs))
      throw new RangeError(`delayMs of a timer must be a finite number (got ${delayMs})`)
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

import type { Clock, MonotonicMs } from "../ports/clock.js"
import type { LogFields, Logger, LogLevel } from "../ports/logger.js"

/**
 * Logs messages that may come in floods: each at most ten times a minute, so that a flood of failures does
 * not become a flood of lines. The last line before the pause says that further lines are suppressed, and the
 * first one after it says how many were.
 *
 * Messages are constants, so there are few of them.
 */
export class LimitedLogger {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #rates = new Map<string, MessageRate>()

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger
    this.#clock = clock
  }

  /**
   * Logs a message. Expensive fields are passed as a function, which is called only if the line is written.
   */
  log(level: LogLevel, message: string, fields: LogFields | (() => LogFields) = {}): void {
    if (!this.#logger.enabled(level)) return
    const now = this.#clock.monotonicMs()
    let rate = this.#rates.get(message)
    if (rate === undefined) {
      rate = { logged: 0, suppressed: 0, quietUntil: 0 }
      this.#rates.set(message, rate)
    }
    if (now >= rate.quietUntil) rate.logged = 0
    else if (rate.logged >= LOGGED_A_MINUTE) {
      rate.suppressed += 1
      return
    }
    rate.logged += 1
    const isFirst = rate.logged === 1
    const isLast = rate.logged === LOGGED_A_MINUTE
    if (isFirst || isLast) rate.quietUntil = now + 60_000
    const { suppressed } = rate
    rate.suppressed = 0
    this.#logger.log(level, message, {
      ...(typeof fields === "function" ? fields() : fields),
      ...(suppressed > 0 ? { suppressed } : {}),
      ...(isLast ? { note: "no more of these for a minute" } : {}),
    })
  }
}

interface MessageRate {
  logged: number
  /** The number of lines suppressed since the last one that was written. */
  suppressed: number
  quietUntil: MonotonicMs
}

const LOGGED_A_MINUTE = 10

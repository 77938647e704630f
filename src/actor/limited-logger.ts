import type { Clock, MonotonicMs } from "../ports/clock.js"
import type { LogFields, Logger, LogLevel } from "../ports/logger.js"

/**
 * Logs what may come in floods: each sentence ten times a minute at most, so that a flood of failures does
 * not become a flood of lines. The last line before a silence says that it is one, and the first line after
 * it how many were left out.
 *
 * Sentences are constants, so there are few of them.
 */
export class LimitedLogger {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #sentences = new Map<string, Sentence>()

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger
    this.#clock = clock
  }

  /** Costly fields are given as a function, which is asked for them when the line is written. */
  log(level: LogLevel, message: string, fields: LogFields | (() => LogFields) = {}): void {
    if (!this.#logger.enabled(level)) return
    const now = this.#clock.monotonicMs()
    let sentence = this.#sentences.get(message)
    if (sentence === undefined) {
      sentence = { logged: 0, suppressed: 0, quietUntil: 0 }
      this.#sentences.set(message, sentence)
    }
    if (now >= sentence.quietUntil) sentence.logged = 0
    else if (sentence.logged >= LOGGED_A_MINUTE) {
      sentence.suppressed += 1
      return
    }
    sentence.logged += 1
    const isFirst = sentence.logged === 1
    const isLast = sentence.logged === LOGGED_A_MINUTE
    if (isFirst || isLast) sentence.quietUntil = now + 60_000
    const { suppressed } = sentence
    sentence.suppressed = 0
    this.#logger.log(level, message, {
      ...(typeof fields === "function" ? fields() : fields),
      ...(suppressed > 0 ? { suppressed } : {}),
      ...(isLast ? { note: "no more of these for a minute" } : {}),
    })
  }
}

interface Sentence {
  logged: number
  /** Since the last line. */
  suppressed: number
  quietUntil: MonotonicMs
}

const LOGGED_A_MINUTE = 10

import type { Clock, MonotonicMs } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Attributes, Span, Telemetry, TraceContext } from "../ports/telemetry.js"
import { attempt } from "./attempt.js"

/**
 * Wraps telemetry so that its errors, or missing results, do not affect calls. The measurement is lost, which
 * is logged once a minute.
 */
export function guardedTelemetry(telemetry: Telemetry, logger: Logger, clock: Clock): Telemetry {
  const failures = new FailureLog(logger, clock)
  const failed = (error: unknown) => failures.add(error)
  return {
    counter: (name, description) => {
      const counter = attempt(() => telemetry.counter(name, description), undefined, failed)
      return {
        add: (amount, attributes) => attempt(() => counter?.add(amount, attributes), undefined, failed),
      }
    },
    histogram: (name, description) => {
      const histogram = attempt(() => telemetry.histogram(name, description), undefined, failed)
      return {
        record: (value, attributes) => attempt(() => histogram?.record(value, attributes), undefined, failed),
      }
    },
    span: (name, options) =>
      new GuardedSpan(
        attempt(() => telemetry.span(name, options), undefined, failed),
        failed,
      ),
  }
}

class GuardedSpan implements Span {
  readonly context: TraceContext | undefined
  readonly #span: Span | undefined
  readonly #failed: (error: unknown) => void

  constructor(span: Span | undefined, failed: (error: unknown) => void) {
    this.#span = span
    this.#failed = failed
    this.context = attempt(() => copied(span?.context), undefined, failed)
  }

  set(attributes: Attributes): void {
    attempt(() => this.#span?.set(attributes), undefined, this.#failed)
  }

  fail(error: unknown): void {
    attempt(() => this.#span?.fail(error), undefined, this.#failed)
  }

  end(): void {
    attempt(() => this.#span?.end(), undefined, this.#failed)
  }
}

/** Copies the context, because it is sent along with calls and must be plain data. */
function copied(context: TraceContext | undefined): TraceContext | undefined {
  if (typeof context !== "object" || context === null) return undefined
  const { traceId, spanId, sampled } = context
  if (typeof traceId !== "string" || typeof spanId !== "string") return undefined
  return { traceId, spanId, sampled: sampled === true }
}

class FailureLog {
  readonly #logger: Logger
  readonly #clock: Clock
  #quietUntil: MonotonicMs = Number.NEGATIVE_INFINITY

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger
    this.#clock = clock
  }

  add(error: unknown): void {
    const now = this.#clock.monotonicMs()
    if (now < this.#quietUntil) return
    this.#quietUntil = now + QUIET_MS
    this.#logger.log("error", "the telemetry adapter threw; the measurement is lost", {
      error,
      note: "no more of these for a minute",
    })
  }
}

const QUIET_MS = 60_000

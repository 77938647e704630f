import type { MonotonicMs } from "../ports/clock.js"
import type { Behavior, Supervised } from "./behavior.js"

/**
 * What happens to an actor that failed: a decision made from the error, the rules around the behavior and the
 * time.
 *
 * Rules nest. The innermost rule whose `on` matches the error decides; if none matches, the actor stops. Each
 * rule remembers the behavior that it wraps, because a restart begins with that, and when it restarted,
 * because a restart that keeps recurring does not help: beyond its limit the actor stops.
 */
export interface SupervisionOptions {
  /** What to do with the actor. */
  readonly strategy: "resume" | "restart" | "stop" | "escalate"
  /** The errors that the rule applies to: a class, or a predicate. Default: all. */
  readonly on?: ErrorClass | ((error: unknown) => boolean)
  /**
   * For `restart`: the maximum number of restarts within the time; one more stops the actor. Default:
   * unlimited.
   */
  readonly limit?: {
    /** The number of restarts. */
    readonly restarts: number
    /** The time within which they count. */
    readonly withinMs: number
  }
  /**
   * For `restart`: the delay before the restart. It doubles with each restart after a run of at most
   * `resetAfterMs` (default twice `toMs`), and a random part of up to `jitter` (default 0.2) of the delay is
   * added. Default: no delay.
   */
  readonly backoff?: {
    /** The first delay. */
    readonly fromMs: number
    /** The longest delay, without its random part. */
    readonly toMs: number
    /** The random part, as a share of the delay. Default 0.2. */
    readonly jitter?: number
    /** The run after which the delay begins at `fromMs` again. Default twice `toMs`. */
    readonly resetAfterMs?: number
  }
}

/** A class of errors. */
export type ErrorClass = abstract new (...parameters: never[]) => Error

/** The state of one rule in one actor. */
export interface Supervisor {
  readonly options: SupervisionOptions
  /** The behavior that a restart begins with. */
  readonly initial: Behavior<never>
  /** The rule around this one. */
  readonly outer: Supervisor | undefined
  /** Whether a handler returned the rule, rather than the initial behavior containing it. */
  readonly fromHandler: boolean
  /** The times of restarts within the period of the limit, the oldest first. */
  readonly restarts: MonotonicMs[]
  /** The number of consecutive restarts that the backoff counts, and the last delay. */
  streak: number
  waitedMs: number
}

export type Decision =
  | { readonly kind: "resume" }
  | { readonly kind: "restart"; readonly supervisor: Supervisor; readonly delayMs: number }
  | { readonly kind: "stop"; readonly because: string }
  | { readonly kind: "escalate" }

/** Decides about an error. `chance` draws a number from 0 to 1; it is called only for a delay. */
export function decide(
  innermost: Supervisor | undefined,
  error: unknown,
  now: MonotonicMs,
  chance: () => number,
): Decision {
  let supervisor = innermost
  while (supervisor !== undefined && !matches(supervisor.options, error)) supervisor = supervisor.outer
  if (supervisor === undefined) return { kind: "stop", because: "no supervision rule matches this error" }
  switch (supervisor.options.strategy) {
    case "resume":
      return { kind: "resume" }
    case "stop":
      return { kind: "stop", because: "its supervision rule says stop" }
    case "escalate":
      return { kind: "escalate" }
    case "restart":
      return restart(supervisor, now, chance)
  }
}

/** Throws a `RangeError` if an option is invalid. */
export function checkSupervision({ strategy, limit, backoff }: SupervisionOptions): void {
  if (!strategies.has(strategy)) {
    throw new RangeError(
      `supervision strategy must be one of ${[...strategies].join(", ")} (got ${String(strategy)})`,
    )
  }
  if (
    limit !== undefined &&
    !(Number.isInteger(limit.restarts) && limit.restarts >= 0 && limit.withinMs > 0)
  ) {
    throw new RangeError(
      "supervision limit must have a non-negative integer restarts and a positive withinMs",
    )
  }
  if (backoff === undefined) return
  const { fromMs, toMs, jitter = 0, resetAfterMs = 0 } = backoff
  const finite = [fromMs, toMs, jitter, resetAfterMs].every(Number.isFinite)
  if (!finite || fromMs <= 0 || toMs < fromMs || jitter < 0 || resetAfterMs < 0) {
    throw new RangeError(
      "supervision backoff must have 0 < fromMs <= toMs, and non-negative jitter and resetAfterMs, all finite",
    )
  }
}

const strategies: ReadonlySet<string> = new Set<SupervisionOptions["strategy"]>([
  "resume",
  "restart",
  "stop",
  "escalate",
])

function matches({ on }: SupervisionOptions, error: unknown): boolean {
  if (on === undefined) return true
  return isErrorClass(on) ? error instanceof on : on(error)
}

function isErrorClass(on: ErrorClass | ((error: unknown) => boolean)): on is ErrorClass {
  return on === Error || on.prototype instanceof Error
}

function restart(supervisor: Supervisor, now: MonotonicMs, chance: () => number): Decision {
  const { limit, backoff } = supervisor.options
  const { restarts } = supervisor
  const last = restarts.at(-1)
  if (limit !== undefined) {
    while (restarts[0] !== undefined && now - restarts[0] >= limit.withinMs) restarts.shift()
    if (restarts.length >= limit.restarts) {
      return {
        kind: "stop",
        because: `its restart limit is reached (${limit.restarts} within ${limit.withinMs} ms)`,
      }
    }
  } else {
    restarts.length = 0
  }
  restarts.push(now)
  return {
    kind: "restart",
    supervisor,
    delayMs: backoff === undefined ? 0 : delay(supervisor, backoff, now, last, chance),
  }
}

function delay(
  supervisor: Supervisor,
  { fromMs, toMs, jitter = 0.2, resetAfterMs = 2 * toMs }: NonNullable<SupervisionOptions["backoff"]>,
  now: MonotonicMs,
  last: MonotonicMs | undefined,
  chance: () => number,
): number {
  const ranMs = last === undefined ? Number.POSITIVE_INFINITY : now - last - supervisor.waitedMs
  supervisor.streak = ranMs > resetAfterMs ? 0 : supervisor.streak + 1
  supervisor.waitedMs = Math.min(toMs, fromMs * 2 ** supervisor.streak) * (1 + jitter * chance())
  return supervisor.waitedMs
}

/** Returns the supervision without the rules that handlers returned. */
export function withoutHandlerRules(innermost: Supervisor | undefined): Supervisor | undefined {
  let supervisor = innermost
  while (supervisor?.fromHandler === true) supervisor = supervisor.outer
  return supervisor
}

/**
 * Creates the state of a rule. A rule that a handler returns replaces the one that a handler returned before;
 * otherwise a behavior that returns one with every message would accumulate them. The counts of the former
 * rule continue.
 */
export function supervisorFor(
  { inner, options }: Supervised<unknown>,
  outer: Supervisor | undefined,
  fromHandler: boolean,
  former: Supervisor | undefined,
): Supervisor {
  const isContinued =
    fromHandler && former?.fromHandler === true && former.options.strategy === options.strategy
  const { restarts, streak, waitedMs } = isContinued ? former : { restarts: [], streak: 0, waitedMs: 0 }
  return { options, initial: inner, outer, fromHandler, restarts, streak, waitedMs }
}

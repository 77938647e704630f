import type { MonotonicMs } from "../ports/clock.js"
import type { Behavior, Supervised } from "./behavior.js"

/**
 * What happens to an actor that failed: a decision, made from the error, the rules around the behavior and
 * the time.
 *
 * Rules nest. The innermost whose `on` takes the error decides; when none does, the actor stops. Each rule
 * remembers the behavior it was put around, because that is what its restart goes back to, and when it
 * restarted, because a restart that keeps happening is no cure: past its limit the actor stops.
 */
export interface SupervisionOptions {
  readonly strategy: "resume" | "restart" | "stop" | "escalate"
  /** Which errors this is for: a class, or a function that says so. All unless set. */
  readonly on?: ErrorClass | ((error: unknown) => boolean)
  /** With `restart`: at most this many within the time; one more stops the actor. No limit unless set. */
  readonly limit?: { readonly restarts: number; readonly withinMs: number }
  /**
   * With `restart`: wait before starting anew, twice as long each time it had run for no more than
   * `resetAfterMs` (twice `toMs` unless set), with up to `jitter` (0.2 unless set) of the wait added by
   * chance. At once unless set.
   */
  readonly backoff?: {
    readonly fromMs: number
    readonly toMs: number
    readonly jitter?: number
    readonly resetAfterMs?: number
  }
}

export type ErrorClass = abstract new (...parameters: never[]) => Error

/** One rule at work in one actor. */
export interface Supervisor {
  readonly options: SupervisionOptions
  /** What a restart starts. */
  readonly initial: Behavior<never>
  /** The rule around this one. */
  readonly outer: Supervisor | undefined
  /** Whether a handler gave it, rather than the actor's start. */
  readonly given: boolean
  /** When it restarted, as far back as the limit looks; the oldest first. */
  readonly restarts: MonotonicMs[]
  /** How many restarts in a row the backoff has counted, and how long it waited for the last one. */
  streak: number
  waitedMs: number
}

export type Decision =
  | { readonly kind: "resume" }
  | { readonly kind: "restart"; readonly supervisor: Supervisor; readonly delayMs: number }
  | { readonly kind: "stop"; readonly because: string }
  | { readonly kind: "escalate" }

/** `chance` draws a number from 0 to 1; it is called only where there is something to draw. */
export function decide(
  innermost: Supervisor | undefined,
  error: unknown,
  now: MonotonicMs,
  chance: () => number,
): Decision {
  let supervisor = innermost
  while (supervisor !== undefined && !takes(supervisor.options, error)) supervisor = supervisor.outer
  if (supervisor === undefined) return { kind: "stop", because: "no supervision takes this error" }
  switch (supervisor.options.strategy) {
    case "resume":
      return { kind: "resume" }
    case "stop":
      return { kind: "stop", because: "its supervision says so" }
    case "escalate":
      return { kind: "escalate" }
    case "restart":
      return restart(supervisor, now, chance)
  }
}

/** Throws a `RangeError` that says what can be. */
export function checkSupervision({ strategy, limit, backoff }: SupervisionOptions): void {
  if (!strategies.has(strategy)) {
    throw new RangeError(`supervision strategy: ${[...strategies].join(", ")}; not ${String(strategy)}`)
  }
  if (
    limit !== undefined &&
    !(Number.isInteger(limit.restarts) && limit.restarts >= 0 && limit.withinMs > 0)
  ) {
    throw new RangeError("supervision limit: restarts is a whole number from 0, withinMs is more than 0")
  }
  if (backoff === undefined) return
  const { fromMs, toMs, jitter = 0, resetAfterMs = 0 } = backoff
  const finite = [fromMs, toMs, jitter, resetAfterMs].every(Number.isFinite)
  if (!finite || fromMs <= 0 || toMs < fromMs || jitter < 0 || resetAfterMs < 0) {
    throw new RangeError(
      "supervision backoff: 0 < fromMs <= toMs, jitter and resetAfterMs not negative, all finite",
    )
  }
}

const strategies: ReadonlySet<string> = new Set<SupervisionOptions["strategy"]>([
  "resume",
  "restart",
  "stop",
  "escalate",
])

function takes({ on }: SupervisionOptions, error: unknown): boolean {
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
      return { kind: "stop", because: `it restarted ${limit.restarts} times within ${limit.withinMs} ms` }
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

/** The supervision that was there before any handler gave some. */
export function withoutGiven(innermost: Supervisor | undefined): Supervisor | undefined {
  let supervisor = innermost
  while (supervisor?.given === true) supervisor = supervisor.outer
  return supervisor
}

/**
 * The supervisor for a behavior that comes with supervision. Supervision that a handler gives replaces what a
 * handler gave before, or a behavior that gives it with every message would pile it up; the counts of the
 * former continue.
 */
export function supervisorFor(
  { inner, options }: Supervised<unknown>,
  outer: Supervisor | undefined,
  given: boolean,
  former: Supervisor | undefined,
): Supervisor {
  const goesOn = given && former?.given === true && former.options.strategy === options.strategy
  const { restarts, streak, waitedMs } = goesOn ? former : { restarts: [], streak: 0, waitedMs: 0 }
  return { options, initial: inner, outer, given, restarts, streak, waitedMs }
}

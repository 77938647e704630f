import { type Clock, consoleLogger, type LogLevel, type MonotonicMs, type WallMs } from "../../src/index.js"

/** What the compiler accepts and refuses about time and logs. Nothing here runs. */
export function times(clock: Clock, plain: number) {
  const wall: WallMs = clock.wallMs()
  const monotonic: MonotonicMs = clock.monotonicMs()
  // @ts-expect-error TS2375: a wall-clock time is not monotonic
  const deadline: MonotonicMs = wall
  // @ts-expect-error TS2375: a monotonic time is not a wall-clock time
  const date: WallMs = monotonic

  const wallOfNumber: WallMs = plain
  const monotonicOfNumber: MonotonicMs = plain
  const later: MonotonicMs = monotonic + plain
  return [deadline, date, wallOfNumber, monotonicOfNumber, later]
}

export function levels(): LogLevel[] {
  // @ts-expect-error TS2322: there are four levels
  const trace: LogLevel = "trace"
  // @ts-expect-error TS2820: levels are in lower case
  const warn: LogLevel = "WARN"
  // @ts-expect-error TS2322: the level of a logger is one of them
  consoleLogger({ level: "verbose" })

  return ["debug", "info", "warn", "error", trace, warn]
}

import assert from "node:assert/strict"
import type { Clock, WallMs } from "../ports/clock.js"
import type { LogFields, Logger, LogLevel } from "../ports/logger.js"
import { jsonLine, type LogEntry, textLine } from "./log-line.js"
import { LogCopier } from "./log-value.js"
import { nodeClock } from "./node-clock.js"

/** Options of {@link consoleLogger}. */
export interface ConsoleLoggerOptions {
  /** The lowest level that is written. Default "info". */
  readonly level?: LogLevel
  /** "text" is for people, "json" writes one object per line. Default "text". */
  readonly format?: "text" | "json"
  /** Writes the output of one call, which has no trailing line break. Default: writes to stderr. */
  readonly write?: (line: string) => void
  /** The clock of the timestamps. Default: that of the system. */
  readonly clock?: Clock
}

/** Creates the logger that a system has by default: one line per message on standard error. */
export function consoleLogger(options: ConsoleLoggerOptions = {}): Logger {
  const { level = "info", format = "text", clock = nodeClock, write = toStderr } = options
  assert(
    Object.hasOwn(loudness, level),
    `level must be one of ${Object.keys(loudness).join(", ")} (got ${level})`,
  )
  assert(format === "text" || format === "json", `format must be text or json (got ${format})`)
  const lineOf = format === "json" ? jsonLine : textLine
  const put = (entry: LogEntry) => write(lineOf(entry))
  return new ConsoleLogger({ level, clock, put }, [])
}

interface Output {
  readonly level: LogLevel
  readonly clock: Clock
  readonly put: (entry: LogEntry) => void
}

class ConsoleLogger implements Logger {
  readonly #output: Output
  readonly #bound: readonly LogFields[]

  constructor(output: Output, bound: readonly LogFields[]) {
    this.#output = output
    this.#bound = bound
  }

  enabled(level: LogLevel): boolean {
    return loudness[level] >= loudness[this.#output.level]
  }

  log(level: LogLevel, message: string, fields?: LogFields): void {
    if (!this.enabled(level)) return
    const copier = new LogCopier()
    this.#output.put({
      time: timestamp(this.#output.clock.wallMs()),
      level,
      message: copier.text(message),
      fields: copier.fields(fields === undefined ? this.#bound : [...this.#bound, fields]),
    })
  }

  with(fields: LogFields): Logger {
    return new ConsoleLogger(this.#output, [...this.#bound, fields])
  }
}

const loudness: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 }

function timestamp(wallMs: WallMs): string {
  const date = new Date(wallMs)
  return Number.isNaN(date.getTime()) ? String(wallMs) : date.toISOString()
}

// Uses the console, which ignores a closed stderr; writing to the stream itself would end the process.
function toStderr(line: string): void {
  console.error(line)
}

import assert from "node:assert/strict"
import type { Clock, WallMs } from "../ports/clock.js"
import type { LogFields, Logger, LogLevel } from "../ports/logger.js"
import { jsonLine, type LogEntry, textLine } from "./log-line.js"
import { LogCopier } from "./log-value.js"
import { nodeClock } from "./node-clock.js"

export interface ConsoleLoggerOptions {
  /** The quietest level that is written; "info" unless set. */
  readonly level?: LogLevel
  /** "text" is for people, "json" writes one object per line; "text" unless set. */
  readonly format?: "text" | "json"
  /** Takes what one call has to say, without a line break at the end. Goes to stderr unless set. */
  readonly write?: (line: string) => void
  readonly clock?: Clock
}

export function consoleLogger(options: ConsoleLoggerOptions = {}): Logger {
  const { level = "info", format = "text", clock = nodeClock, write = toStderr } = options
  assert(
    Object.hasOwn(loudness, level),
    `level must be one of ${Object.keys(loudness).join(", ")}, not ${level}.`,
  )
  assert(format === "text" || format === "json", `format must be text or json, not ${format}.`)
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

// By way of the console, which takes no notice of a stderr that somebody has closed; the stream itself would
// end the process.
function toStderr(line: string): void {
  console.error(line)
}

/** The severity of a log message, in ascending order. */
export type LogLevel = "debug" | "info" | "warn" | "error"

/** Named values of a log message. An `Error` is logged with its code, stack and causes. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * Receives the log messages of the runtime. A message is a constant; what varies goes into fields, so that
 * logs can be searched.
 */
export interface Logger {
  /** Says whether messages of this level are logged; called before expensive fields are computed. */
  enabled(level: LogLevel): boolean
  /** Logs a message with its fields. */
  log(level: LogLevel, message: string, fields?: LogFields): void
  /** Returns a logger that adds these fields to every message. */
  with(fields: LogFields): Logger
}

/** From the quietest reason to speak to the loudest. */
export type LogLevel = "debug" | "info" | "warn" | "error"

/** What goes with a message, by name. An `Error` is written with its code, stack and causes. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * Where the runtime says what it does. A message is a constant sentence; what varies goes into fields, so
 * that logs can be searched.
 */
export interface Logger {
  /** Asked before costly fields are put together. */
  enabled(level: LogLevel): boolean
  log(level: LogLevel, message: string, fields?: LogFields): void
  /** A logger that adds these fields to everything it says. */
  with(fields: LogFields): Logger
}

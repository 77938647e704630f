import type { Logger } from "../ports/logger.js"
import { attempt } from "./attempt.js"

/**
 * A logger that throws must not bring down what it was to report. What it throws has nowhere to go and is
 * dropped.
 */
export function guardedLogger(logger: Logger): Logger {
  return {
    enabled: (level) => attempt(() => logger.enabled(level), false),
    log: (level, message, fields) => attempt(() => logger.log(level, message, fields), undefined),
    with: (fields) => guardedLogger(attempt(() => logger.with(fields), logger) ?? logger),
  }
}

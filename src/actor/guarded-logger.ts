import type { Logger } from "../ports/logger.js"
import { attempt } from "./attempt.js"

/**
 * Wraps a logger so that its errors do not affect the code that logs. The errors are dropped, because they
 * cannot be logged.
 */
export function guardedLogger(logger: Logger): Logger {
  return {
    enabled: (level) => attempt(() => logger.enabled(level), false),
    log: (level, message, fields) => attempt(() => logger.log(level, message, fields), undefined),
    with: (fields) => guardedLogger(attempt(() => logger.with(fields), logger) ?? logger),
  }
}

import type { LogFields, Logger } from "../../src/index.js"
import type { Life } from "../../src/sim/index.js"

/** The log of a life, with an ear for who takes whom out of the cluster. */
export function overheardLog(life: Life): Logger {
  const { logger } = life.ports
  const log = (level: Parameters<Logger["log"]>[0], message: string, fields?: LogFields) => {
    if (message === "a node was taken out of the cluster") {
      life.sometimes(`a lease is ended: ${String(fields?.["because"])}`)
    }
    logger.log(level, message, fields)
  }
  const ear: Logger = { enabled: (level) => logger.enabled(level), log, with: () => ear }
  return ear
}

import type { Ports } from "../ports/ports.js"
import { consoleLogger } from "./console-logger.js"
import { guardedTasks, guardedTimers } from "./guarded-ports.js"
import { nodeLifeline } from "./lifeline/node-lifeline.js"
import { noTelemetry } from "./no-telemetry.js"
import { nodeClock } from "./node-clock.js"
import { nodeDigest } from "./node-digest.js"
import { nodeLoad } from "./node-load.js"
import { nodeNetwork } from "./node-network.js"
import { nodeRandom } from "./node-random.js"
import { nodeScheduler } from "./node-scheduler.js"
import { nodeThreads } from "./node-threads.js"
import { nodeTurnContext } from "./node-turn-context.js"

/** Returns the ports of a node in production. The logger uses the given clock for its timestamps. */
export function nodePorts(overrides: Partial<Ports> = {}): Ports {
  const logger = overrides.logger ?? consoleLogger({ clock: overrides.clock ?? nodeClock })
  const clock = overrides.clock ?? guardedTimers(nodeClock, logger)
  return {
    clock,
    random: overrides.random ?? nodeRandom,
    scheduler: overrides.scheduler ?? guardedTasks(nodeScheduler, clock, logger),
    network: overrides.network ?? nodeNetwork,
    digest: overrides.digest ?? nodeDigest,
    lifeline: overrides.lifeline ?? nodeLifeline,
    logger,
    telemetry: overrides.telemetry ?? noTelemetry,
    turnContext: overrides.turnContext ?? nodeTurnContext,
    threads: overrides.threads ?? nodeThreads,
    load: overrides.load ?? nodeLoad(),
    isDevelopment: overrides.isDevelopment ?? process.env["NODE_ENV"] !== "production",
  }
}

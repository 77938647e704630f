import type { Clock } from "./clock.js"
import type { Digest } from "./digest.js"
import type { Lifeline } from "./lifeline.js"
import type { Load } from "./load.js"
import type { Logger } from "./logger.js"
import type { Network } from "./network.js"
import type { Random } from "./random.js"
import type { Scheduler } from "./scheduler.js"
import type { Telemetry } from "./telemetry.js"
import type { Threads } from "./threads.js"
import type { TurnContext } from "./turn-context.js"

/** Everything that a node uses from outside of itself, apart from the store. */
export interface Ports {
  readonly clock: Clock
  readonly random: Random
  readonly scheduler: Scheduler
  readonly network: Network
  readonly digest: Digest
  readonly lifeline: Lifeline
  readonly logger: Logger
  readonly telemetry: Telemetry
  readonly turnContext: TurnContext
  /** Undefined where there are no threads: leases are then renewed on the event loop. */
  readonly threads?: Threads | undefined
  /** Undefined where the load of the process is not measured. */
  readonly load?: Load | undefined
  /** Whether checks are made that production does without. Default false. */
  readonly isDevelopment?: boolean | undefined
}

import type { ActorFailed } from "../../src/actor/actor-events.js"
import { ActorAbandoned, ActorFailed as Failed } from "../../src/actor/actor-events.js"
import { DeadLetter } from "../../src/actor/dead-letters.js"
import type { LogFields, Logger } from "../../src/ports/logger.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import type { ActorSystemSettings } from "../../src/system/settings.js"
import { ManualClock } from "./manual-clock.js"

/** A real system on a manual clock, which records its log, events and dead letters. */
export interface TestSystem {
  readonly system: ActorSystem
  readonly clock: ManualClock
  readonly deadLetters: readonly DeadLetter[]
  readonly failures: readonly ActorFailed[]
  readonly abandoned: readonly ActorAbandoned[]
  /** `level message` of each line. */
  readonly log: readonly string[]
  /** The fields of the lines, in the same order. */
  readonly logFields: readonly LogFields[]
}

export async function startTestSystem(settings: Partial<ActorSystemSettings> = {}): Promise<TestSystem> {
  const clock = new ManualClock()
  const log: string[] = []
  const logFields: LogFields[] = []
  const system = await ActorSystem.start(
    { namespace: "test", ...settings },
    nodePorts({ clock, logger: recording(log, logFields) }),
  )
  const deadLetters: DeadLetter[] = []
  const failures: ActorFailed[] = []
  const abandoned: ActorAbandoned[] = []
  system.events.subscribe(DeadLetter, (event) => deadLetters.push(event))
  system.events.subscribe(Failed, (event) => failures.push(event))
  system.events.subscribe(ActorAbandoned, (event) => abandoned.push(event))
  return { system, clock, deadLetters, failures, abandoned, log, logFields }
}

function recording(lines: string[], allFields: LogFields[]): Logger {
  const logger: Logger = {
    enabled: () => true,
    log: (level, message, fields = {}) => {
      lines.push(`${level} ${message}`)
      allFields.push(fields)
    },
    with: () => logger,
  }
  return logger
}

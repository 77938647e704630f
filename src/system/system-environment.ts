import type { ActorEnvironment } from "../actor/actor-environment.js"
import { DeadLetters } from "../actor/dead-letters.js"
import { Deadlines } from "../actor/deadlines.js"
import { Dispatcher } from "../actor/dispatcher.js"
import { EventStream } from "../actor/event-stream.js"
import { guardedLogger } from "../actor/guarded-logger.js"
import { drawFirstUid, UidReservations } from "../address/uid-reservations.js"
import type { Ports } from "../ports/ports.js"
import type { BoundListener } from "./bound-listener.js"
import type { CheckedSettings } from "./settings.js"

/** What all actors of a system share. */
export function systemEnvironment(
  settings: CheckedSettings,
  { clock, random, scheduler, logger: sink }: Ports,
  bound: BoundListener | undefined,
): ActorEnvironment {
  const address = bound?.address ?? settings.address
  const logger = guardedLogger(sink).with({
    system: address.system,
    // Without the incarnation, which may change while the system runs.
    ...(bound === undefined ? {} : { node: bound.self.address }),
  })
  const events = new EventStream(scheduler, logger)
  let names = 0
  return {
    address,
    uids: new UidReservations({ firstIssued: drawFirstUid(random) }),
    dispatcher: new Dispatcher(scheduler, clock),
    deadlines: new Deadlines(clock),
    events,
    deadLetters: new DeadLetters(events, logger, clock),
    clock,
    random,
    logger,
    askTimeoutMs: settings.requestTimeoutMs,
    mailboxCapacity: bound === undefined ? Number.POSITIVE_INFINITY : settings.mailboxCapacity,
    temporaries: new Map(),
    freshName: () => {
      names += 1
      return `$${names.toString(36)}`
    },
  }
}

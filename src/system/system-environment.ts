import type { ActorEnvironment } from "../actor/actor-environment.js"
import { DeadLetters } from "../actor/dead-letters.js"
import { Deadlines } from "../actor/deadlines.js"
import { Dispatcher } from "../actor/dispatcher.js"
import type { EventStream } from "../actor/event-stream.js"
import type { Address } from "../address/address.js"
import { drawFirstUid, UidReservations } from "../address/uid-reservations.js"
import type { Logger } from "../ports/logger.js"
import type { Ports } from "../ports/ports.js"
import type { CheckedSettings } from "./settings.js"

/** What all actors of a system share. */
export function systemEnvironment(
  { clock, random, scheduler }: Ports,
  {
    address,
    events,
    logger,
    settings,
    mailboxCapacity,
  }: {
    readonly address: Address
    readonly events: EventStream
    readonly logger: Logger
    readonly settings: CheckedSettings
    readonly mailboxCapacity: number
  },
): ActorEnvironment {
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
    mailboxCapacity,
    temporaries: new Map(),
    freshName: () => {
      names += 1
      return `$${names.toString(36)}`
    },
  }
}

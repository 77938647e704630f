import type { Address } from "../address/address.js"
import type { UidReservations } from "../address/uid-reservations.js"
import type { Clock } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Random } from "../ports/random.js"
import type { DeadLetters } from "./dead-letters.js"
import type { Deadlines } from "./deadlines.js"
import type { Dispatcher } from "./dispatcher.js"
import type { EventStream } from "./event-stream.js"
import type { InternalRef } from "./internal-ref.js"

/** The objects that all actors of one system share. */
export interface ActorEnvironment {
  readonly address: Address
  readonly uids: UidReservations
  readonly dispatcher: Dispatcher
  readonly deadlines: Deadlines
  readonly events: EventStream
  readonly deadLetters: DeadLetters
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly askTimeoutMs: number
  /** The default capacity of a mailbox. */
  readonly mailboxCapacity: number
  /** The asks in flight that have a path, by their name under `/system/temp`. */
  readonly temporaries: Map<string, InternalRef<never>>
  /** Returns a name that no other actor of this system has. */
  freshName(): string
}

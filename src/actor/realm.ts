import type { Address } from "../address/address.js"
import type { UidReservations } from "../address/uid-reservations.js"
import type { Clock } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Random } from "../ports/random.js"
import type { DeadLetters } from "./dead-letters.js"
import type { Deadlines } from "./deadlines.js"
import type { Dispatcher } from "./dispatcher.js"
import type { EventStream } from "./event-stream.js"

/** What all actors of one system share. */
export interface Realm {
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
  /** A name that no other actor of this system was given. */
  freshName(): string
}

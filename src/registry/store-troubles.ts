import { Recent } from "../actor/recent.js"
import type { ActorId } from "../address/actor-id.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { Clock, MonotonicMs, WallMs } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"

/**
 * Logs failures of the store: the first of each kind, and then once a minute at most. While a store is away,
 * every request fails again and again for the same reason.
 */
export class StoreTroubles {
  readonly #logger: Logger
  readonly #clock: Clock
  /** The latest failure. */
  #last: StoreTrouble | undefined
  #failures = 0
  /** The latest saves that were refused, or whose outcome is not known: each has ended its activation. */
  readonly refusedSaves = new Recent<RefusedSave>(MOST_KEPT)
  /** When each kind was last logged, the latest at the end. */
  readonly #loggedAt = new Map<string, MonotonicMs>()

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger
    this.#clock = clock
  }

  /** The latest failure; undefined if there was none. */
  get last(): StoreTrouble | undefined {
    return this.#last
  }

  /** The number of requests that failed. */
  get failures(): number {
    return this.#failures
  }

  saveRefused(id: ActorId, because: string): void {
    this.refusedSaves.add({ at: this.#clock.wallMs(), id, because })
  }

  /** `asked` is the request that failed: `renew the lease`. Rethrows errors that are not the store's. */
  note(asked: string, error: unknown): StoreUnavailableError {
    if (!(error instanceof StoreUnavailableError)) throw error
    const now = this.#clock.monotonicMs()
    this.#last = { asked, error, at: now }
    this.#failures += 1
    const kind = error.message
    const loggedAt = this.#loggedAt.get(kind)
    if (loggedAt !== undefined && now < loggedAt + LOG_AGAIN_MS) return error
    this.#loggedAt.delete(kind)
    this.#loggedAt.set(kind, now)
    if (this.#loggedAt.size > MAX_KINDS) this.#loggedAt.delete(this.#loggedAt.keys().next().value as string)
    this.#logger.log("warn", "the store did not do what it was asked", { asked, error })
    return error
  }

  /** The store cannot be asked for this at all: a mistake of this program, which is logged each time. */
  refused(asked: string, error: unknown): void {
    this.#logger.log("error", "the store cannot be asked for this", { asked, error })
  }
}

/** A request that the store failed. */
export interface StoreTrouble {
  readonly asked: string
  readonly error: StoreUnavailableError
  readonly at: MonotonicMs
}

/** A save that has ended its activation. */
interface RefusedSave {
  readonly at: WallMs
  readonly id: ActorId
  readonly because: string
}

const MOST_KEPT = 50
const LOG_AGAIN_MS = 60_000
const MAX_KINDS = 64

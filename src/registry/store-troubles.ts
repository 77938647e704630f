import { StoreUnavailableError } from "../errors/store-errors.js"
import type { Clock, MonotonicMs } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"

/**
 * Says why the store does not do what it is asked. The first trouble of each kind is logged, and after that
 * once a minute at most: while a store is away everything that is tried fails, again and again, for one and
 * the same reason.
 */
export class StoreTroubles {
  readonly #logger: Logger
  readonly #clock: Clock
  /** When each kind was last told, the latest at the end. */
  readonly #told = new Map<string, MonotonicMs>()

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger
    this.#clock = clock
  }

  /** `asked` is what came to nothing: `renew the lease`. Throws again what is no trouble of the store's. */
  note(asked: string, error: unknown): StoreUnavailableError {
    if (!(error instanceof StoreUnavailableError)) throw error
    const now = this.#clock.monotonicMs()
    const kind = error.message
    const toldAt = this.#told.get(kind)
    if (toldAt !== undefined && now < toldAt + AGAIN_MS) return error
    this.#told.delete(kind)
    this.#told.set(kind, now)
    if (this.#told.size > MOST_KINDS) this.#told.delete(this.#told.keys().next().value as string)
    this.#logger.log("warn", "the store did not do what it was asked", { asked, error })
    return error
  }
}

const AGAIN_MS = 60_000
const MOST_KINDS = 64

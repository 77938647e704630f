import { Actor, sharded } from "troupe"

/** How many calls may be made at once. */
const BURST = 10
/** The time after which one more call may be made. */
const REFILL_MS = 6_000

/**
 * A token bucket. The key says what is limited: `login/ada`, or an address.
 *
 * Nothing of it is stored, and it is placed by its shard, so it costs no write at all. The price is that the
 * bucket is full again when its node dies or its shard moves.
 */
export class RateLimiter extends Actor {
  static readonly type = "RateLimiter"
  static readonly durable = false
  static readonly placement = sharded()
  /** An idle limiter ends no sooner than its bucket is full, so that a new one makes no difference. */
  static readonly idleAfterMs = BURST * REFILL_MS

  #tokens = BURST
  #refilledAtMs = performance.now()

  /** Takes a token. If there is none, says when there will be one. */
  take(): { isAllowed: boolean; retryAfterMs: number } {
    const nowMs = performance.now()
    this.#tokens = Math.min(BURST, this.#tokens + (nowMs - this.#refilledAtMs) / REFILL_MS)
    this.#refilledAtMs = nowMs
    if (this.#tokens < 1) return { isAllowed: false, retryAfterMs: Math.ceil((1 - this.#tokens) * REFILL_MS) }
    this.#tokens -= 1
    return { isAllowed: true, retryAfterMs: 0 }
  }
}

/**
 * How processes that write to one file take turns.
 *
 * SQLite's lock has no queue: whoever asks at the right instant gets it. A process that commits without a
 * pause asks again a few microseconds after it let go, and with SQLite's own way of waiting, which sleeps
 * longer each time, another one may see the lock taken for seconds. So waiting is done here, in short naps of
 * random length that do not grow; and whoever has just had the lock leaves it alone for as long as the
 * longest nap, once there is a sign of others: the lock was taken, or the file has commits that are not ours.
 * Others cannot be seen while they get nothing at all, so every now and then there is such a rest without any
 * sign.
 *
 * A lock of our own with a queue would be fairer still, and would need a second file and a handover that
 * costs a nap each.
 */
export class LockBackoff {
  #othersSeenAt = Number.NEGATIVE_INFINITY
  #releasedAt = Number.NEGATIVE_INFINITY
  #tookAt = 0
  #heldMs = 0

  /** How long to leave the lock alone before it is asked for. */
  restMs(now: number): number {
    const isDue = now - this.#othersSeenAt < COMPANY_MS || this.#heldMs > HELD_MS
    return isDue ? Math.max(0, this.#releasedAt + REST_MS - now) : 0
  }

  /** It was taken by somebody else. Says how long to nap; `chance` is from 0 to 1. */
  busy(now: number, chance: number): number {
    this.sawOthers(now)
    return SHORTEST_NAP_MS + chance * (REST_MS - SHORTEST_NAP_MS)
  }

  sawOthers(now: number): void {
    this.#othersSeenAt = now
  }

  took(now: number): void {
    if (now - this.#releasedAt >= REST_MS) this.#heldMs = 0
    this.#tookAt = now
  }

  released(now: number): void {
    this.#heldMs += now - this.#tookAt
    this.#releasedAt = now
  }
}

const SHORTEST_NAP_MS = 0.05
/** As long as the longest nap. */
const REST_MS = 1
/** For how long others are reckoned with after there was a sign of them. */
const COMPANY_MS = 100
/** After having held it for so long without a rest, there is one in any case. */
const HELD_MS = 50

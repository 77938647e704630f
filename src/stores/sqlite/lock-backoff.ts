/**
 * The back-off by which processes that write to one file take turns.
 *
 * SQLite's lock has no queue: the process that asks at the right instant gets it. A process that commits
 * without a pause asks again a few microseconds after it released the lock. With SQLite's own busy handler,
 * which sleeps longer each time, another process may find the lock taken for seconds. The waiting is
 * therefore done here, in short sleeps of random length that do not grow. A process that has just held the
 * lock leaves it alone for as long as the longest sleep if there is a sign of others: the lock was taken, or
 * the file has commits of other processes. Other processes cannot be detected while they get no turn at all,
 * so from time to time there is such a rest without any sign.
 *
 * A lock of our own with a queue would be fairer still, but would need a second file and a handover that
 * costs a sleep each time.
 */
export class LockBackoff {
  #othersSeenAt = Number.NEGATIVE_INFINITY
  #releasedAt = Number.NEGATIVE_INFINITY
  #tookAt = 0
  #heldMs = 0

  /** Returns how long to leave the lock alone before the next attempt. */
  restMs(now: number): number {
    const isDue = now - this.#othersSeenAt < COMPANY_MS || this.#heldMs > HELD_MS
    return isDue ? Math.max(0, this.#releasedAt + REST_MS - now) : 0
  }

  /**
   * Records that the lock was taken by another process, and returns how long to sleep; `chance` is from 0 to
   * 1.
   */
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
/** As long as the longest sleep. */
const REST_MS = 1
/** How long other processes are assumed to be active after a sign of them. */
const COMPANY_MS = 100
/** After holding the lock for this long without a rest, there is one in any case. */
const HELD_MS = 50

/**
 * The back-off by which processes that write to one file take turns.
 *
 * SQLite's lock has no queue: the process that asks at the right instant gets it. A process that commits
 * without a pause asks again a few microseconds after it released the lock. With SQLite's own busy handler,
 * which sleeps longer each time, another process may find the lock taken for seconds. The waiting is
 * therefore done here, and the other way round: a process sleeps less the longer it has waited, so that those
 * that have waited for longest ask most often. How long others wait for the lock is not known, but it is
 * about as long as this process usually does: half of the time that is left until then is slept through, and
 * a process that has waited for longer than usual asks several times a millisecond. This comes close to a
 * queue, and the number of attempts for a turn hardly grows with the number of processes. If all of them
 * asked all the time, they would use up the processors that the one with the lock needs.
 *
 * A process that has just held the lock leaves it alone for as long as the longest of those short sleeps if
 * there is a sign of others: the lock was taken, or the file has commits of other processes. Other processes
 * cannot be detected while they get no turn at all, so from time to time there is such a rest without any
 * sign.
 *
 * A lock of our own with a queue would be fairer still, but would need a second file, a rule for processes
 * that die in the queue, and a handover that costs a sleep each time.
 */
export class LockBackoff {
  #othersSeenAt = Number.NEGATIVE_INFINITY
  #releasedAt = Number.NEGATIVE_INFINITY
  #tookAt = 0
  #heldMs = 0
  /** Since when this process waits for the lock. */
  #waitsSince: number | undefined
  /** How long this process has waited for the lock of late: an average that forgets. */
  #usualMs = 0

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
    this.#waitsSince ??= now
    const leftMs = this.#usualMs - (now - this.#waitsSince)
    const shortMs = SHORTEST_NAP_MS + chance * (REST_MS - SHORTEST_NAP_MS)
    return Math.min(LONGEST_NAP_MS, Math.max(shortMs, leftMs * (0.25 + chance / 2)))
  }

  sawOthers(now: number): void {
    this.#othersSeenAt = now
  }

  took(now: number): void {
    if (now - this.#releasedAt >= REST_MS) this.#heldMs = 0
    this.#tookAt = now
    const waitedMs = now - (this.#waitsSince ?? now)
    this.#waitsSince = undefined
    this.#usualMs += (waitedMs - this.#usualMs) * FORGETTING
  }

  released(now: number): void {
    this.#heldMs += now - this.#tookAt
    this.#releasedAt = now
  }
}

const SHORTEST_NAP_MS = 0.05
/** As long as the longest sleep of a process that has waited for longer than usual. */
const REST_MS = 1
const LONGEST_NAP_MS = 20
/** The share of the latest turn in the average. */
const FORGETTING = 0.2
/** How long other processes are assumed to be active after a sign of them. */
const COMPANY_MS = 100
/** After holding the lock for this long without a rest, there is one in any case. */
const HELD_MS = 50

import type { MonotonicMs } from "../ports/clock.js"
import type { Random } from "../ports/random.js"
import type { ActorPath } from "./actor-path.js"
import { ActorPathError } from "./actor-path-error.js"
import { isUid } from "./actor-path-parser.js"
import { PathResolutionError } from "./path-resolution-error.js"

/**
 * Assigns uids to actors, so that a reference to a stopped actor never reaches the next one of its name.
 *
 * Uids come from a counter that never goes back. A caller may request one instead, to restore an actor under
 * a reference that others still hold. The two kinds come from disjoint ranges, so the counter need not
 * remember requested uids, and a request need not know what the counter issued. Requested uids are
 * remembered: they are refused while their actor runs, and for some time after, while late messages to the
 * old incarnation may still be in flight.
 *
 * The table is bounded. Its entry is taken when the uid is requested, because the end of an actor cannot be
 * refused.
 */
export class UidReservations {
  readonly #holdMs: number
  readonly #capacity: number
  readonly #running = new Set<string>()
  /** When each reservation ends. All last equally long, so insertion order is the order in which they end. */
  readonly #reserved = new Map<string, MonotonicMs>()
  #next: number

  /** Throws an {@link ActorPathError} if `firstIssued` is in the range of requested uids. */
  constructor(options: UidOptions = {}) {
    const { firstIssued = LARGEST_REQUESTED_UID + 1 } = options
    if (!isUid(firstIssued) || firstIssued <= LARGEST_REQUESTED_UID) {
      throw new ActorPathError(
        "InvalidUid",
        `firstIssued must be an integer of at least ${LARGEST_REQUESTED_UID + 1} (got ${firstIssued})`,
      )
    }
    this.#next = firstIssued
    this.#holdMs = options.holdMs ?? FIVE_DAYS_MS
    this.#capacity = options.capacity ?? 10_000
  }

  /** The number of uids that are in use or reserved. */
  get size(): number {
    return this.#running.size + this.#reserved.size
  }

  /** Returns a uid that no actor had before. */
  next(): number {
    const uid = this.#next
    this.#next += 1
    return uid
  }

  /** Claims the uid of `path` for an actor at that path, or returns why it is refused. */
  claim(path: ActorPath, now: MonotonicMs): ActorPathError | PathResolutionError | undefined {
    const { uid } = path
    if (uid === undefined || uid > LARGEST_REQUESTED_UID) {
      return new ActorPathError(
        "InvalidUid",
        `a requested uid must be an integer from 1 to ${LARGEST_REQUESTED_UID} (got ${uid})`,
      )
    }
    this.#expire(now)
    const name = nameOf(path)
    if (this.#running.has(name)) return reserved(path, "an actor with this uid is running")
    const until = this.#reserved.get(name)
    if (until !== undefined)
      return reserved(path, `this uid is reserved for another ${Math.ceil(until - now)} ms`)
    if (this.size >= this.#capacity) {
      return reserved(
        path,
        `the limit of ${this.#capacity} uids in use or reserved is reached; let Troupe choose the uid`,
      )
    }
    this.#running.add(name)
    return undefined
  }

  /** Reserves the uid of an actor that has stopped. Has no effect for a uid that was not claimed. */
  release(path: ActorPath, now: MonotonicMs): void {
    const name = nameOf(path)
    if (this.#running.delete(name)) this.#reserved.set(name, now + this.#holdMs)
  }

  #expire(now: MonotonicMs): void {
    for (const [name, until] of this.#reserved) {
      if (until > now) return
      this.#reserved.delete(name)
    }
  }
}

interface UidOptions {
  /** How long a uid is reserved after its actor stopped. Default 5 days. */
  readonly holdMs?: number
  /** The maximum number of uids in use or reserved. Default 10,000. */
  readonly capacity?: number
  /**
   * The first value of the counter. The system draws it anew for each incarnation of the node, with {@link
   * drawFirstUid}: a restarted node that counted from the same number would issue its predecessor's uids, and
   * old references would reach the wrong actors.
   */
  readonly firstIssued?: number
}

/**
 * Draws one of 2^20 first values, which are 2^31 uids apart: so many can be issued before the range of
 * another incarnation begins.
 */
export function drawFirstUid(random: Random): number {
  return 2 ** 31 * (1 + (random.uint32() % 2 ** 20))
}

/** The largest uid that a caller may request; the counter begins after it. */
export const LARGEST_REQUESTED_UID = 2 ** 31 - 1

const FIVE_DAYS_MS = 5 * 24 * 60 * 60 * 1000

function nameOf(path: ActorPath): string {
  return `${path.key}#${path.uid}`
}

function reserved(path: ActorPath, problem: string): PathResolutionError {
  return new PathResolutionError("UidReserved", path.toString(), problem)
}

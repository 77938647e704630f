import type { MonotonicMs } from "../ports/clock.js"
import type { Random } from "../ports/random.js"
import type { ActorPath } from "./actor-path.js"
import { ActorPathError } from "./actor-path-error.js"
import { isUid } from "./actor-path-parser.js"
import { PathResolutionError } from "./path-resolution-error.js"

/**
 * Which uid an actor gets, so that a reference to one that stopped never reaches the next one of its name.
 *
 * Uids come from a counter that never goes back. A caller may ask for one instead, to bring an actor back
 * under a reference that others still hold; the two kinds come from ranges that do not meet, so the counter
 * needs no memory of what was asked for, and asking needs no memory of what the counter gave. What was asked
 * for is remembered: it is refused while its actor runs, and for a while after, when late messages to the old
 * incarnation may still be under way.
 *
 * The table is bounded. Room for the reservation is taken when the uid is asked for, because an actor that
 * stops cannot be refused.
 */
export class UidReservations {
  readonly #holdMs: number
  readonly #capacity: number
  readonly #running = new Set<string>()
  /** When each reservation ends. All last equally long, so they end in the order of insertion. */
  readonly #reserved = new Map<string, MonotonicMs>()
  #next: number

  /** Throws an {@link ActorPathError} if `firstIssued` is not beyond the uids that can be asked for. */
  constructor(options: UidOptions = {}) {
    const { firstIssued = LARGEST_ASKED_UID + 1 } = options
    if (!isUid(firstIssued) || firstIssued <= LARGEST_ASKED_UID) {
      throw new ActorPathError(
        "InvalidUid",
        `the first uid that is issued is an integer from ${LARGEST_ASKED_UID + 1}, not ${firstIssued}`,
      )
    }
    this.#next = firstIssued
    this.#holdMs = options.holdMs ?? FIVE_DAYS_MS
    this.#capacity = options.capacity ?? 10_000
  }

  /** How many uids are in use or reserved. */
  get size(): number {
    return this.#running.size + this.#reserved.size
  }

  /** A uid that no actor had before. */
  next(): number {
    const uid = this.#next
    this.#next += 1
    return uid
  }

  /** Takes the uid that `path` carries for an actor at that path, or says why it cannot be had. */
  claim(path: ActorPath, now: MonotonicMs): ActorPathError | PathResolutionError | undefined {
    const { uid } = path
    if (uid === undefined || uid > LARGEST_ASKED_UID) {
      return new ActorPathError(
        "InvalidUid",
        `a uid that is asked for is from 1 to ${LARGEST_ASKED_UID}, not ${uid}`,
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
        `${this.#capacity} uids are in use or reserved, which is the limit; let Troupe choose the uid`,
      )
    }
    this.#running.add(name)
    return undefined
  }

  /** Its actor stopped: from now on the uid is reserved. Does nothing for a uid that was not claimed. */
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
  /** How long a uid is reserved after its actor stopped; 5 days unless set. */
  readonly holdMs?: number
  /** How many uids can be in use or reserved; 10,000 unless set. */
  readonly capacity?: number
  /**
   * Where the counter begins. The system draws it anew for each life of the node, with {@link drawFirstUid}:
   * a restarted node that counted from the same number would give out its predecessor's uids, and old
   * references would reach actors that they do not mean.
   */
  readonly firstIssued?: number
}

/**
 * One of 2^20 starts that are 2^31 uids apart, which is how many a life can issue before it meets another's.
 */
export function drawFirstUid(random: Random): number {
  return 2 ** 31 * (1 + (random.uint32() % 2 ** 20))
}

/** The largest uid that a caller may ask for; the counter begins after it. */
export const LARGEST_ASKED_UID = 2 ** 31 - 1

const FIVE_DAYS_MS = 5 * 24 * 60 * 60 * 1000

function nameOf(path: ActorPath): string {
  return `${path.key}#${path.uid}`
}

function reserved(path: ActorPath, problem: string): PathResolutionError {
  return new PathResolutionError("UidReserved", path.toString(), problem)
}
